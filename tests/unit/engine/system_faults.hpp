// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace kube::test {

/// Counts the calls of a system function, and how many of the next ones fail.
struct SystemFault {
  std::atomic<int> failures = 0;
  std::atomic<int> calls = 0;
};

inline SystemFault epoll_create_fault;
inline SystemFault epoll_ctl_fault;
inline SystemFault epoll_wait_fault;
inline SystemFault eventfd_fault;
inline SystemFault eventfd_write_fault;
inline SystemFault timerfd_fault;

}  // namespace kube::test
