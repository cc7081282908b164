// SPDX-License-Identifier: Apache-2.0
#include "failing_new.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace kube::testkit {
namespace {

/// Set for the test's own thread while allocations of others fail.
thread_local bool exempt = false;
thread_local std::size_t own_left = 0;
thread_local std::size_t count = 0;
std::atomic<bool> others = false;
std::atomic<std::size_t> others_left = 0;
std::atomic<bool> failed = false;
std::atomic<std::size_t> held = 0;
std::atomic<std::size_t> most_held = 0;

void* counted(void* memory) noexcept {
  const std::size_t size = ::malloc_usable_size(memory);
  const std::size_t now = held.fetch_add(size, std::memory_order_relaxed) + size;
  std::size_t most = most_held.load(std::memory_order_relaxed);
  while (now > most && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void release(void* memory) noexcept {
  held.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

bool fails() noexcept {
  ++count;
  if (own_left != 0) {
    if (--own_left != 0) return false;
  } else {
    if (exempt || !others.load(std::memory_order_relaxed)) return false;
    if (others_left.fetch_sub(1) != 1) return false;
    others = false;
  }
  failed = true;
  return true;
}

void* allocate(std::size_t size) {
  void* memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc{};
  return counted(memory);
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* memory = fails() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc{};
  return counted(memory);
}

}  // namespace

FailingNew::FailingNew(std::size_t n, Where where) {
  failed = false;
  if (where == Where::kThisThread) {
    own_left = n;
  } else {
    exempt = true;
    others_left = n;
    others = true;
  }
}

FailingNew::~FailingNew() {
  own_left = 0;
  others = false;
  exempt = false;
}

bool FailingNew::has_failed() const noexcept { return failed; }
std::size_t allocations() noexcept { return count; }

PeakMemory::PeakMemory() : before_(held) { most_held = before_; }
std::size_t PeakMemory::bytes() const noexcept { return most_held - before_; }

}  // namespace kube::testkit

void* operator new(std::size_t size) { return kube::testkit::allocate(size); }
void* operator new[](std::size_t size) { return kube::testkit::allocate(size); }
// std::stable_sort uses this overload for its buffer, and works without one.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return kube::testkit::fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return kube::testkit::allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return kube::testkit::allocate(size, alignment);
}
void operator delete(void* memory) noexcept { kube::testkit::release(memory); }
void operator delete[](void* memory) noexcept { kube::testkit::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { kube::testkit::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { kube::testkit::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { kube::testkit::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { kube::testkit::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  kube::testkit::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  kube::testkit::release(memory);
}
