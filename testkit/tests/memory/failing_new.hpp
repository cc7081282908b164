// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// An operator new that fails on request.
namespace kube::testkit {

/// Makes the `n`th allocation (1 is the next) fail with std::bad_alloc, once; counts those of this
/// thread or of all others. Ends with the object.
class FailingNew {
 public:
  enum class Where { kThisThread, kOtherThreads };
  explicit FailingNew(std::size_t n, Where where = Where::kThisThread);
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// Returns whether the allocation has failed.
  [[nodiscard]] bool has_failed() const noexcept;
};

/// Returns the number of allocations of this thread so far.
[[nodiscard]] std::size_t allocations() noexcept;

/// Measures the peak memory of all threads since construction, in bytes.
class PeakMemory {
 public:
  PeakMemory();
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  std::size_t before_;
};

}  // namespace kube::testkit
