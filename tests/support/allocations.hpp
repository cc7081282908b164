// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Counts and fails allocations of the whole test program: operator new, and the library's calls of
/// malloc, mmap and the heap of the caches. Link the library `kubecxx_test_allocations`.
namespace kube::test {

/// Returns the number of live allocations, excluding mappings.
[[nodiscard]] std::size_t live_allocations() noexcept;
[[nodiscard]] std::size_t live_bytes() noexcept;
/// Returns the maximum of live_bytes() since the last call of reset_peak().
[[nodiscard]] std::size_t peak_bytes() noexcept;
void reset_peak() noexcept;

/// Makes allocations of this thread fail during its lifetime: the one with number `first`, counted
/// from 0, and with kFromThere all later ones.
class FailingAllocations {
 public:
  enum Extent { kOnce, kFromThere };
  FailingAllocations(std::size_t first, Extent extent) noexcept;
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();

  /// Returns whether an allocation has failed, i.e. whether there were that many.
  [[nodiscard]] static bool has_failed() noexcept;
};

}  // namespace kube::test
