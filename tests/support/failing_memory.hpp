// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Memory that runs out on request, for programs that link failing_memory.cpp and have the linker wrap the functions of
/// the heap: that of operator new, and that of caches.
namespace kube::testing_support {

/// While it lives, one allocation fails: the one with the given number, counted from 1, of this thread.
class MemoryFault {
 public:
  explicit MemoryFault(std::uint64_t number) noexcept;
  MemoryFault(const MemoryFault&) = delete;
  MemoryFault& operator=(const MemoryFault&) = delete;
  ~MemoryFault();
  [[nodiscard]] bool happened() const noexcept;
};

/// The same for all threads together, except those that are in an ExemptFromFaults. Several allocations in a row can
/// fail, so that there is no memory for reporting it, either.
class MemoryFaultAnywhere {
 public:
  explicit MemoryFaultAnywhere(std::uint64_t number, std::uint64_t times = 1) noexcept;
  MemoryFaultAnywhere(const MemoryFaultAnywhere&) = delete;
  MemoryFaultAnywhere& operator=(const MemoryFaultAnywhere&) = delete;
  ~MemoryFaultAnywhere();
  [[nodiscard]] bool happened() const noexcept;
};

/// While it lives, no allocation of this thread fails.
class ExemptFromFaults {
 public:
  ExemptFromFaults() noexcept;
  ExemptFromFaults(const ExemptFromFaults&) = delete;
  ExemptFromFaults& operator=(const ExemptFromFaults&) = delete;
  ~ExemptFromFaults();
};

/// Pieces of memory that have been allocated and not released.
[[nodiscard]] std::int64_t pieces_in_use() noexcept;

}  // namespace kube::testing_support
