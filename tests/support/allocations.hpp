// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Allocations of the whole test program: operator new, and malloc, mmap and the heap of the caches as the library
/// calls them. Link the library `kubecxx_test_allocations`.
namespace kube::test {

/// Allocations that are alive, without mappings.
[[nodiscard]] std::size_t live_allocations() noexcept;
[[nodiscard]] std::size_t live_bytes() noexcept;
/// The most that live_bytes() has been since the last call of reset_peak().
[[nodiscard]] std::size_t peak_bytes() noexcept;
void reset_peak() noexcept;

/// Makes allocations of this thread fail while it exists: the one with number `first`, counted from 0, and with
/// kFromThere all that follow.
class FailingAllocations {
 public:
  enum Extent { kOnce, kFromThere };
  FailingAllocations(std::size_t first, Extent extent) noexcept;
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();

  /// Whether there were as many allocations as that.
  [[nodiscard]] static bool has_failed() noexcept;
};

}  // namespace kube::test
