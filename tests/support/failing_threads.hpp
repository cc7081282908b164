// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::testing_support {

/// While it lives, the next threads cannot be created: std::thread throws. For programs that link failing_threads.cpp.
class ThreadFault {
 public:
  explicit ThreadFault(int times) noexcept;
  ThreadFault(const ThreadFault&) = delete;
  ThreadFault& operator=(const ThreadFault&) = delete;
  ~ThreadFault();
  /// Threads that still cannot be created.
  [[nodiscard]] int left() const noexcept;
};

}  // namespace kube::testing_support
