// SPDX-License-Identifier: Apache-2.0
#include "fork.hpp"

#include <pthread.h>

#include <atomic>
#include <string>

namespace kube::detail {

namespace {

// Constant initialised: others may use them before the initialisers of this file have run.
std::atomic<std::uint64_t> generation = 0;
std::atomic<std::uint64_t> live_runtimes = 0;
/// A thread of a Runtime was there when this process, or a parent of it, was forked.
std::atomic<bool> forked_beside_runtime = false;

void after_fork_in_child() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
  if (live_runtimes.load(std::memory_order_relaxed) > 0) forked_beside_runtime = true;
}

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, &after_fork_in_child);

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void ProcessMark::refuse(const char* what) {
  throw ForkedError(
      std::string{what} +
      " belongs to the parent of this process; a child of fork() may only destroy it");
}

LiveRuntime::LiveRuntime() {
  if (forked_beside_runtime) {
    throw ForkedError(
        "this process was forked from one with a Runtime, whose threads may have held locks; call "
        "exec first, or fork before the parent makes a Runtime");
  }
  live_runtimes.fetch_add(1, std::memory_order_relaxed);
}

LiveRuntime::~LiveRuntime() { live_runtimes.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace kube::detail
