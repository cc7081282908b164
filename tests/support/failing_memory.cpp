// SPDX-License-Identifier: Apache-2.0
#include "support/failing_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace kube::testing_support {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

constinit thread_local std::int64_t countdown = kNever;
constinit thread_local int exemptions = 0;
constinit std::atomic<std::int64_t> countdown_anywhere = kNever;
constinit std::atomic<std::int64_t> times_anywhere = 1;
constinit std::atomic<std::int64_t> pieces = 0;

void count_allocation() {
  if (exemptions == 0) {
    if (countdown != kNever && --countdown == 0) throw std::bad_alloc{};
    if (countdown_anywhere.load(std::memory_order_relaxed) != kNever) {
      const std::int64_t left = countdown_anywhere.fetch_sub(1, std::memory_order_relaxed);
      if (left <= 1 && left > 1 - times_anywhere) throw std::bad_alloc{};
    }
  }
  pieces.fetch_add(1, std::memory_order_relaxed);
}

void count_release(const void* memory) noexcept {
  if (memory != nullptr) pieces.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

MemoryFault::MemoryFault(std::uint64_t number) noexcept {
  countdown = static_cast<std::int64_t>(number);
}
MemoryFault::~MemoryFault() { countdown = kNever; }
bool MemoryFault::happened() const noexcept { return countdown <= 0; }

MemoryFaultAnywhere::MemoryFaultAnywhere(std::uint64_t number, std::uint64_t times) noexcept {
  times_anywhere = static_cast<std::int64_t>(times);
  countdown_anywhere = static_cast<std::int64_t>(number);
}
MemoryFaultAnywhere::~MemoryFaultAnywhere() { countdown_anywhere = kNever; }
bool MemoryFaultAnywhere::happened() const noexcept { return countdown_anywhere <= 0; }

ExemptFromFaults::ExemptFromFaults() noexcept { ++exemptions; }
ExemptFromFaults::~ExemptFromFaults() { --exemptions; }

std::int64_t pieces_in_use() noexcept { return pieces; }

}  // namespace kube::testing_support

using kube::testing_support::count_allocation;
using kube::testing_support::count_release;

// The heap of the caches. The linker redirects its callers to these functions (--wrap), and calls
// of __real_... to the heap. The names are the mangled names of
// kube::detail::heap_allocate(std::size_t) and heap_release(void*).
extern "C" {
void* __real__ZN4kube6detail13heap_allocateEm(std::size_t size);      // NOLINT
void __real__ZN4kube6detail12heap_releaseEPv(void* memory) noexcept;  // NOLINT
void* __wrap__ZN4kube6detail13heap_allocateEm(std::size_t size) {     // NOLINT
  count_allocation();
  return __real__ZN4kube6detail13heap_allocateEm(size);
}
void __wrap__ZN4kube6detail12heap_releaseEPv(void* memory) noexcept {  // NOLINT
  count_release(memory);
  __real__ZN4kube6detail12heap_releaseEPv(memory);
}
}

void* operator new(std::size_t size) {
  count_allocation();
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
// std::stable_sort allocates its buffer this way, and works without one if that fails.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  count_allocation();
  const auto step = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(step, (size + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void operator delete(void* memory) noexcept {
  count_release(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  operator delete(memory);
}
