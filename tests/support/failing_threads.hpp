// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::testing_support {

/// Makes the next thread creations fail during its lifetime: std::thread throws. For programs that
/// link failing_threads.cpp.
class ThreadFault {
 public:
  explicit ThreadFault(int times) noexcept;
  ThreadFault(const ThreadFault&) = delete;
  ThreadFault& operator=(const ThreadFault&) = delete;
  ~ThreadFault();
  /// Returns the number of creations that are still to fail.
  [[nodiscard]] int left() const noexcept;
};

}  // namespace kube::testing_support
