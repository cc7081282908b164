// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Injects allocation failures into operator new and the heap of the caches. Programs link
/// failing_memory.cpp and let the linker wrap the functions of the heap.
namespace kube::testing_support {

/// Makes one allocation of this thread fail during its lifetime: the one with the given number,
/// counted from 1.
class MemoryFault {
 public:
  explicit MemoryFault(std::uint64_t number) noexcept;
  MemoryFault(const MemoryFault&) = delete;
  MemoryFault& operator=(const MemoryFault&) = delete;
  ~MemoryFault();
  [[nodiscard]] bool happened() const noexcept;
};

/// Makes allocations of all threads fail, counted together, except in threads with an
/// ExemptFromFaults. Several consecutive allocations can fail, so that memory for reporting the
/// error is missing, too.
class MemoryFaultAnywhere {
 public:
  explicit MemoryFaultAnywhere(std::uint64_t number, std::uint64_t times = 1) noexcept;
  MemoryFaultAnywhere(const MemoryFaultAnywhere&) = delete;
  MemoryFaultAnywhere& operator=(const MemoryFaultAnywhere&) = delete;
  ~MemoryFaultAnywhere();
  [[nodiscard]] bool happened() const noexcept;
};

/// Exempts this thread from allocation failures during its lifetime.
class ExemptFromFaults {
 public:
  ExemptFromFaults() noexcept;
  ExemptFromFaults(const ExemptFromFaults&) = delete;
  ExemptFromFaults& operator=(const ExemptFromFaults&) = delete;
  ~ExemptFromFaults();
};

/// Returns the number of live allocations.
[[nodiscard]] std::int64_t pieces_in_use() noexcept;

}  // namespace kube::testing_support
