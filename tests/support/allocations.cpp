// SPDX-License-Identifier: Apache-2.0
#include "support/allocations.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kube::test {

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> bytes{0};
std::atomic<std::size_t> peak{0};

struct Plan {
  bool is_armed = false;
  bool is_lasting = false;
  bool has_failed = false;
  std::size_t left = 0;  // allocations before the failing one
};
thread_local Plan plan;

/// Returns whether the next allocation fails.
bool fails() noexcept {
  if (!plan.is_armed) return false;
  if (plan.left > 0) {
    --plan.left;
    return false;
  }
  if (plan.has_failed && !plan.is_lasting) return false;
  plan.has_failed = true;
  return true;
}

void* counted(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  live.fetch_add(1);
  const std::size_t now =
      bytes.fetch_add(::malloc_usable_size(memory)) + ::malloc_usable_size(memory);
  std::size_t most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void* uncounted(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  live.fetch_sub(1);
  bytes.fetch_sub(::malloc_usable_size(memory));
  return memory;
}

}  // namespace

std::size_t live_allocations() noexcept { return live.load(); }
std::size_t live_bytes() noexcept { return bytes.load(); }
std::size_t peak_bytes() noexcept { return peak.load(); }
void reset_peak() noexcept { peak.store(bytes.load()); }

FailingAllocations::FailingAllocations(std::size_t first, Extent extent) noexcept {
  plan = {true, extent == kFromThere, false, first};
}
FailingAllocations::~FailingAllocations() { plan.is_armed = false; }
bool FailingAllocations::has_failed() noexcept { return plan.has_failed; }

}  // namespace kube::test

// Functions that the linker redirects (--wrap). Only calls from statically linked code, such as the
// library, are redirected.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void __real_free(void* memory);
void* __real_mmap(void* at, std::size_t size, int access, int flags, int file, long offset);
int __real_mprotect(void* at, std::size_t size, int access);
void* __real__ZN4kube6detail13heap_allocateEm(std::size_t size);
void __real__ZN4kube6detail12heap_releaseEPv(void* memory);

void* __wrap_malloc(std::size_t size) {
  return kube::test::fails() ? nullptr : kube::test::counted(__real_malloc(size));
}
// Compilers merge malloc and memset into calloc.
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return kube::test::fails() ? nullptr : kube::test::counted(__real_calloc(count, size));
}
void __wrap_free(void* memory) { __real_free(kube::test::uncounted(memory)); }
void* __wrap_mmap(void* at, std::size_t size, int access, int flags, int file, long offset) {
  if (kube::test::fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(at, size, access, flags, file, offset);
}
int __wrap_mprotect(void* at, std::size_t size, int access) {
  // PROT_NONE releases memory, which never fails here.
  if (access != PROT_NONE && kube::test::fails()) {
    errno = ENOMEM;
    return -1;
  }
  return __real_mprotect(at, size, access);
}
void* __wrap__ZN4kube6detail13heap_allocateEm(std::size_t size) {
  if (kube::test::fails()) throw std::bad_alloc{};
  void* const memory = __real__ZN4kube6detail13heap_allocateEm(size);
  kube::test::live.fetch_add(1);
  return memory;
}
void __wrap__ZN4kube6detail12heap_releaseEPv(void* memory) {
  kube::test::live.fetch_sub(1);
  __real__ZN4kube6detail12heap_releaseEPv(memory);
}
}
// NOLINTEND(bugprone-reserved-identifier)

void* operator new(std::size_t size) {
  void* const memory = kube::test::fails() ? nullptr : kube::test::counted(__real_malloc(size));
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void* operator new[](std::size_t size) { return ::operator new(size); }
// std::stable_sort allocates its buffer this way, and works without one if that fails.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return kube::test::fails() ? nullptr : kube::test::counted(__real_malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* const memory =
      kube::test::fails()
          ? nullptr
          : kube::test::counted(::aligned_alloc(static_cast<std::size_t>(alignment), size));
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void operator delete(void* memory) noexcept { __real_free(kube::test::uncounted(memory)); }
void operator delete[](void* memory) noexcept { ::operator delete(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { ::operator delete(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { ::operator delete(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  ::operator delete(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  ::operator delete(memory);
}
