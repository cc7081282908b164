// SPDX-License-Identifier: Apache-2.0
#include <kube/base/heap.hpp>

#include <malloc.h>
#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <new>

namespace kube::detail {

namespace {

void* reserve(std::size_t size, int access) noexcept {
  void* memory = ::mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Heap::Heap(std::size_t reserved) noexcept {
  const std::size_t size = reserved / kChunk * kChunk;
  if (size == 0) return;
  // A chunk more, so that they can begin where huge pages do.
  void* const memory = reserve(size + kChunk, PROT_NONE);
  if (memory == nullptr) return;
  const std::size_t spans = size / kSpan;
  const std::size_t chunks = size / kChunk;
  // Only what is used of these gets memory.
  void* const tables =
      reserve(spans * sizeof(Span) + chunks * sizeof(std::uint32_t), PROT_READ | PROT_WRITE);
  if (tables == nullptr) {
    ::munmap(memory, size + kChunk);
    return;
  }
  begin_ = static_cast<std::byte*>(memory) +
           (kChunk - reinterpret_cast<std::uintptr_t>(memory) % kChunk) % kChunk;
  const auto before = static_cast<std::size_t>(begin_ - static_cast<std::byte*>(memory));
  if (before > 0) ::munmap(memory, before);
  ::munmap(begin_ + size, kChunk - before);
  size_ = size;
  spans_ = static_cast<Span*>(tables);
  free_spans_ = reinterpret_cast<std::uint32_t*>(spans_ + spans);
}

Heap::~Heap() {
  if (size_ == 0) return;
  ::munmap(spans_, size_ / kSpan * sizeof(Span) + size_ / kChunk * sizeof(std::uint32_t));
  ::munmap(begin_, size_);
}

std::size_t Heap::class_for(std::size_t size) noexcept {
  if (size <= kFineClasses * 16) return size == 0 ? 0 : (size - 1) / 16;
  const auto width = static_cast<std::size_t>(std::bit_width(size - 1));
  return kFineClasses + (width - 10) * 16 + ((size - 1) >> (width - 5)) - 16;
}

std::size_t Heap::size_of_class(std::size_t number) noexcept {
  if (number < kFineClasses) return (number + 1) * 16;
  const std::size_t coarse = number - kFineClasses;
  return (coarse % 16 + 17) << (coarse / 16 + 5);
}

void Heap::link(SizeClass& owner, std::uint32_t number) noexcept {
  Span& span = spans_[number];
  span.previous = kNone;
  span.next = owner.roomy;
  if (owner.roomy != kNone) spans_[owner.roomy].previous = number;
  owner.roomy = number;
}

void Heap::unlink(SizeClass& owner, std::uint32_t number) noexcept {
  const Span& span = spans_[number];
  if (span.next != kNone) spans_[span.next].previous = span.previous;
  (span.previous != kNone ? spans_[span.previous].next : owner.roomy) = span.next;
}

/// The lowest that is free, or kNone.
std::uint32_t Heap::take_span() noexcept {
  const std::lock_guard lock{mutex_};
  std::size_t chunk = first_with_room_;
  while (chunk < chunks_ && free_spans_[chunk] == 0) ++chunk;
  first_with_room_ = chunk;
  if (chunk == chunks_) {
    if (chunk == size_ / kChunk) return kNone;
    std::byte* const memory = begin_ + chunk * kChunk;
    if (::mprotect(memory, kChunk, PROT_READ | PROT_WRITE) != 0) return kNone;
    // An advice: where there are no huge pages, there are small ones.
    if (chunk >= kSmallChunks) ::madvise(memory, kChunk, MADV_HUGEPAGE);
    ++chunks_;
    free_spans_[chunk] = UINT32_MAX;
    ++with_memory_;
  } else if (free_spans_[chunk] == UINT32_MAX) {
    if (chunk == spare_) {
      spare_ = SIZE_MAX;
    } else {
      ++with_memory_;
    }
  }
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(free_spans_[chunk]));
  free_spans_[chunk] &= ~(1U << bit);
  return static_cast<std::uint32_t>(chunk * kSpansOfChunk) + bit;
}

void Heap::give_span(std::uint32_t number) noexcept {
  const std::lock_guard lock{mutex_};
  const std::size_t chunk = number / kSpansOfChunk;
  free_spans_[chunk] |= 1U << (number % kSpansOfChunk);
  if (chunk < first_with_room_) first_with_room_ = chunk;
  if (free_spans_[chunk] != UINT32_MAX) return;
  if (spare_ == SIZE_MAX) {
    spare_ = chunk;
  } else {
    ::madvise(begin_ + chunk * kChunk, kChunk, MADV_DONTNEED);
    --with_memory_;
  }
}

void* Heap::allocate(std::size_t size) {
  if (size <= kLargest) {
    const std::size_t number = class_for(size);
    const std::size_t rounded = size_of_class(number);
    SizeClass& owner = classes_[number];
    const std::lock_guard lock{owner.mutex};
    if (owner.roomy == kNone) {
      if (const std::uint32_t fresh = take_span(); fresh != kNone) {
        spans_[fresh] = {.free = nullptr,
                         .next = kNone,
                         .previous = kNone,
                         .fresh = kSpan,
                         .live = 0,
                         .size_class = static_cast<std::uint8_t>(number)};
        link(owner, fresh);
      }
    }
    if (owner.roomy != kNone) {
      Span& span = spans_[owner.roomy];
      void* piece = span.free;
      if (piece != nullptr) {
        span.free = span.free->next;
      } else {
        piece = begin_ + owner.roomy * kSpan + (kSpan - span.fresh);
        span.fresh -= static_cast<std::uint32_t>(rounded);
      }
      ++span.live;
      if (!has_room(span, rounded)) unlink(owner, owner.roomy);
      return piece;
    }
  }
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void Heap::release(void* memory) noexcept {
  if (!has(memory)) {
    std::free(memory);
    return;
  }
  const std::uint32_t number = span_of(memory);
  Span& span = spans_[number];
  SizeClass& owner = classes_[span.size_class];
  const std::lock_guard lock{owner.mutex};
  const bool had_room = has_room(span, size_of_class(span.size_class));
  span.free = new (memory) FreePiece{span.free};
  --span.live;
  if (!had_room) link(owner, number);
  // The only one with room is kept, or the next piece would take it again.
  if (span.live == 0 && (span.next != kNone || span.previous != kNone)) {
    unlink(owner, number);
    give_span(number);
  }
}

std::size_t Heap::size_of(const void* memory) const noexcept {
  if (!has(memory)) return ::malloc_usable_size(const_cast<void*>(memory));
  return size_of_class(spans_[span_of(memory)].size_class);
}

std::size_t Heap::chunk_bytes() const noexcept {
  const std::lock_guard lock{mutex_};
  return with_memory_ * kChunk;
}

#ifdef KUBECXX_SANITIZED

// Sanitizers see what happens to each piece only if it is malloc's.
void* heap_allocate(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void heap_release(void* memory) noexcept { std::free(memory); }
std::size_t heap_size_of(const void* memory) noexcept {
  return ::malloc_usable_size(const_cast<void*>(memory));
}

#else

namespace {
/// Never destroyed: objects that are may still release memory.
Heap& process_heap() {
  static auto& heap = *new Heap{std::size_t{64} << 30};
  return heap;
}
}  // namespace

void* heap_allocate(std::size_t size) { return process_heap().allocate(size); }
void heap_release(void* memory) noexcept { process_heap().release(memory); }
std::size_t heap_size_of(const void* memory) noexcept { return process_heap().size_of(memory); }

#endif

}  // namespace kube::detail
