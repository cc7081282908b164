// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// An operator new that fails when a test says so.
namespace kube::testkit {

/// Makes the `n`th allocation (1 is the next) fail with std::bad_alloc, once, among those of this thread or of all
/// others. Ends with the object.
class FailingNew {
 public:
  enum class Where { kThisThread, kOtherThreads };
  explicit FailingNew(std::size_t n, Where where = Where::kThisThread);
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// Whether it has come to that.
  [[nodiscard]] bool has_failed() const noexcept;
};

/// Allocations of this thread so far.
[[nodiscard]] std::size_t allocations() noexcept;

/// The most bytes that all threads have held at once, beyond those held when it was made.
class PeakMemory {
 public:
  PeakMemory();
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  std::size_t before_;
};

}  // namespace kube::testkit
