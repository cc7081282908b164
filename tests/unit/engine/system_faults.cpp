// SPDX-License-Identifier: Apache-2.0
// C library functions that tests make fail. A definition in the program takes precedence over a
// shared library's.
#include "system_faults.hpp"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cerrno>

namespace kube::test {
namespace {

bool fails(SystemFault& fault, int error) {
  ++fault.calls;
  int left = fault.failures;
  while (left > 0 && !fault.failures.compare_exchange_weak(left, left - 1)) {
  }
  if (left <= 0) return false;
  errno = error;
  return true;
}

template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace kube::test

using kube::test::behind;
using kube::test::fails;

extern "C" {

int epoll_create1(int flags) noexcept {
  static auto* const real = behind<int(int)>("epoll_create1");
  return fails(kube::test::epoll_create_fault, EMFILE) ? -1 : real(flags);
}
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  static auto* const real = behind<int(int, int, int, epoll_event*)>("epoll_ctl");
  return fails(kube::test::epoll_ctl_fault, ENOMEM) ? -1 : real(epoll, operation, fd, event);
}
int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static auto* const real = behind<int(int, epoll_event*, int, int)>("epoll_wait");
  return fails(kube::test::epoll_wait_fault, ENOMEM) ? -1 : real(epoll, events, most, timeout);
}
int eventfd(unsigned value, int flags) noexcept {
  static auto* const real = behind<int(unsigned, int)>("eventfd");
  return fails(kube::test::eventfd_fault, EMFILE) ? -1 : real(value, flags);
}
int eventfd_write(int fd, eventfd_t value) {
  static auto* const real = behind<int(int, eventfd_t)>("eventfd_write");
  return fails(kube::test::eventfd_write_fault, EINTR) ? -1 : real(fd, value);
}
int timerfd_create(int clock, int flags) noexcept {
  static auto* const real = behind<int(int, int)>("timerfd_create");
  return fails(kube::test::timerfd_fault, EMFILE) ? -1 : real(clock, flags);
}
}
