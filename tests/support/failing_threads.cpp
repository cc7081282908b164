// SPDX-License-Identifier: Apache-2.0
#include "support/failing_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace kube::testing_support {
namespace {
std::atomic<int> faults = 0;
}  // namespace

ThreadFault::ThreadFault(int times) noexcept { faults = times; }
ThreadFault::~ThreadFault() { faults = 0; }
int ThreadFault::left() const noexcept { return faults; }

}  // namespace kube::testing_support

/// Replaces the function of the C library and calls it.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = decltype(&pthread_create);
  static const auto kCreate = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  int left = kube::testing_support::faults;
  while (left > 0 && !kube::testing_support::faults.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0 ? EAGAIN : kCreate(thread, attributes, start, argument);
}
