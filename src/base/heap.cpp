// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

// Defined in programs that are built with AddressSanitizer, even if the library is not.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* memory, std::size_t size);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
}

namespace kube::detail {

namespace {

/// With a smaller address range the heap is not worth using.
constexpr std::size_t kFewestChunks = 8;
/// The heap takes 1/8 of a limited address space: threads and other allocators need the rest.
constexpr std::size_t kPartOfLimit = 8;

void poison(const void* memory, std::size_t size) noexcept {
  if (&__asan_poison_memory_region != nullptr) __asan_poison_memory_region(memory, size);
}

void unpoison(const void* memory, std::size_t size) noexcept {
  if (&__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(memory, size);
}

/// Random per process, so that the checksum of a released piece cannot be forged.
std::uint64_t random_key() noexcept {
  std::uint64_t key = 0;
  const auto* const bytes = reinterpret_cast<const void*>(::getauxval(AT_RANDOM));
  if (bytes != nullptr) std::memcpy(&key, bytes, sizeof key);
  return key | 1;
}

[[noreturn]] void report_corruption(const char* problem, const void* memory) noexcept {
  char message[160];
  const int size = std::snprintf(message, sizeof message,
                                 "kubecxx: heap: %s (%p); ending the program\n", problem, memory);
  if (size > 0) static_cast<void>(!::write(STDERR_FILENO, message, static_cast<std::size_t>(size)));
  std::abort();
}

void* reserve(std::size_t size, int access) noexcept {
  void* memory = ::mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Heap::Heap(std::size_t reserved) noexcept : key_(random_key()) {
  std::size_t size = reserved / kChunk * kChunk;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    size = std::min(size, limit.rlim_cur / kPartOfLimit / kChunk * kChunk);
  }
  if (size == 0) return;
  // One chunk more, to align the chunks to huge pages.
  void* memory = reserve(size + kChunk, PROT_NONE);
  if (memory == nullptr) {
    while (memory == nullptr) {
      size = size / 2 / kChunk * kChunk;
      if (size < kFewestChunks * kChunk) return;
      memory = reserve(size + kChunk, PROT_NONE);
    }
    // This size is about all that the limit leaves.
    ::munmap(memory, size + kChunk);
    size = std::max(kFewestChunks * kChunk, size / kPartOfLimit / kChunk * kChunk);
    memory = reserve(size + kChunk, PROT_NONE);
    if (memory == nullptr) return;
  }
  const std::size_t spans = size / kSpan;
  const std::size_t chunks = size / kChunk;
  // Pages of the tables get memory on first use.
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
  unpoison(begin_, chunks_ * kChunk);
  ::munmap(spans_, size_ / kSpan * sizeof(Span) + size_ / kChunk * sizeof(std::uint32_t));
  ::munmap(begin_, size_);
}

std::size_t Heap::class_for(std::size_t size) noexcept {
  if (size <= kFineClasses * 16) return size == 0 ? 0 : (size - 1) / 16;
  const auto width = static_cast<std::size_t>(std::bit_width(size - 1));
  return kFineClasses + (width - 10) * 16 + ((size - 1) >> (width - 5)) - 16;
}

std::uint64_t Heap::check_of(const FreePiece& piece) const noexcept {
  return (piece.next ^ reinterpret_cast<std::uintptr_t>(&piece)) * 0x9e3779b97f4a7c15ULL ^ key_;
}

Heap::FreePiece* Heap::take_free(FreePiece& piece) const noexcept {
  unpoison(&piece, sizeof piece);
  if (piece.check != check_of(piece)) {
    report_corruption("a released object was written to", &piece);
  }
  piece.check = 0;  // otherwise a piece in use would look like a free one
  return reinterpret_cast<FreePiece*>(piece.next ^ key_);
}

std::uint64_t Heap::index_of(const void* memory, const Span& span) noexcept {
  // Multiplies by the inverse: a division would take longer than the rest of release(). Exact for
  // offsets within a span.
  static constexpr auto kInverses = [] {
    std::array<std::uint64_t, kClasses> inverses{};
    for (std::size_t i = 0; i < kClasses; ++i) {
      inverses[i] = (std::uint64_t{1} << 32) / size_of_class(i) + 1;
    }
    return inverses;
  }();
  // Spans are aligned to their size.
  return reinterpret_cast<std::uintptr_t>(memory) % kSpan * kInverses[span.size_class] >> 32;
}

void Heap::check_release(const void* memory, Span& span) const noexcept {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(memory) % kSpan;
  const std::uint64_t index = index_of(memory, span);
  if (span.live == 0 || offset >= kSpan - span.fresh ||
      index * size_of_class(span.size_class) != offset) {
    report_corruption("release of a pointer that is not an allocated object", memory);
  }
  bool is_free = false;
  if (has_bits(span)) {
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    is_free = (span.in_use[index / 64] & bit) == 0;
    span.in_use[index / 64] &= ~bit;
  } else {
    const auto& piece = *static_cast<const FreePiece*>(memory);
    is_free = piece.check == check_of(piece);
  }
  if (is_free) report_corruption("an object was released twice", memory);
}

void Heap::link(SizeClass& owner, std::uint32_t number) noexcept {
  Span& span = spans_[number];
  span.previous = kNone;
  span.next = owner.first_with_room;
  if (owner.first_with_room != kNone) spans_[owner.first_with_room].previous = number;
  owner.first_with_room = number;
}

void Heap::unlink(SizeClass& owner, std::uint32_t number) noexcept {
  const Span& span = spans_[number];
  if (span.next != kNone) spans_[span.next].previous = span.previous;
  (span.previous != kNone ? spans_[span.previous].next : owner.first_with_room) = span.next;
}

/// Returns the lowest free span, or kNone.
std::uint32_t Heap::take_span() noexcept {
  const std::lock_guard lock{mutex_};
  std::size_t chunk = first_with_room_;
  while (chunk < chunks_ && free_spans_[chunk] == 0) ++chunk;
  first_with_room_ = chunk;
  if (chunk == chunks_) {
    if (chunk == size_ / kChunk) return kNone;
    std::byte* const memory = begin_ + chunk * kChunk;
    if (::mprotect(memory, kChunk, PROT_READ | PROT_WRITE) != 0) return kNone;
    // Only advisory: without huge pages, small ones are used.
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
    if (owner.first_with_room == kNone) {
      if (const std::uint32_t fresh = take_span(); fresh != kNone) {
        spans_[fresh] = {.free = nullptr,
                         .next = kNone,
                         .previous = kNone,
                         .fresh = kSpan,
                         .live = 0,
                         .size_class = static_cast<std::uint8_t>(number),
                         .in_use = {}};
        link(owner, fresh);
      }
    }
    if (owner.first_with_room != kNone) {
      Span& span = spans_[owner.first_with_room];
      void* piece = span.free;
      if (piece != nullptr) {
        span.free = take_free(*span.free);
      } else {
        piece = begin_ + owner.first_with_room * kSpan + (kSpan - span.fresh);
        span.fresh -= static_cast<std::uint32_t>(rounded);
        unpoison(piece, sizeof(FreePiece));
        // Removes the checksum that a released piece of another size may have left.
        new (piece) FreePiece{};
      }
      ++span.live;
      if (has_bits(span)) {
        const std::uint64_t index = index_of(piece, span);
        span.in_use[index / 64] |= std::uint64_t{1} << (index % 64);
      }
      if (!has_room(span, rounded)) unlink(owner, owner.first_with_room);
      unpoison(piece, std::max(size, sizeof(FreePiece)));
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
  check_release(memory, span);
  const std::size_t size = size_of_class(span.size_class);
  const bool had_room = has_room(span, size);
  auto* const piece = new (memory) FreePiece{reinterpret_cast<std::uintptr_t>(span.free) ^ key_, 0};
  piece->check = check_of(*piece);
  span.free = piece;
  poison(memory, size);
  --span.live;
  if (!had_room) link(owner, number);
  // Keeps the only span with room: the next allocation would take it again at once.
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

void Heap::lock_all() noexcept {
  for (SizeClass& owner : classes_) owner.mutex.lock();
  mutex_.lock();
}

void Heap::unlock_all() noexcept {
  mutex_.unlock();
  for (SizeClass& owner : classes_) owner.mutex.unlock();
}

namespace {

struct ForkHandlers {
  void (*before)() noexcept;
  void (*after)() noexcept;
};
constinit std::array<ForkHandlers, 4> fork_handlers{};
constinit std::size_t fork_handler_count = 0;

/// Guards the creation of the heap. Not a function-local static: a child that is forked while
/// another thread initialises one would wait forever.
constinit std::mutex making;
constinit std::atomic<Heap*> made{nullptr};

void before_fork() {
  for (std::size_t i = 0; i < fork_handler_count; ++i) fork_handlers[i].before();
  making.lock();
  if (Heap* const heap = made.load()) heap->lock_all();
}

void after_fork() {
  if (Heap* const heap = made.load()) heap->unlock_all();
  making.unlock();
  for (std::size_t i = fork_handler_count; i > 0; --i) fork_handlers[i - 1].after();
}

[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, after_fork, after_fork);

}  // namespace

bool add_fork_handlers(void (*before)() noexcept, void (*after)() noexcept) noexcept {
  if (fork_handler_count == fork_handlers.size()) std::abort();
  fork_handlers[fork_handler_count++] = {before, after};
  return true;
}

#ifdef KUBECXX_SANITIZED

// Plain malloc, so that sanitizers track each allocation.
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

Heap& make_process_heap() noexcept {
  const std::lock_guard lock{making};
  if (made.load() == nullptr) {
    // Never destroyed: static destructors may still release objects.
    alignas(Heap) static std::byte memory[sizeof(Heap)];
    made.store(new (memory) Heap{std::size_t{64} << 30}, std::memory_order_release);
  }
  return *made.load();
}

Heap& process_heap() noexcept {
  Heap* const heap = made.load(std::memory_order_acquire);
  return heap != nullptr ? *heap : make_process_heap();
}

}  // namespace

void* heap_allocate(std::size_t size) { return process_heap().allocate(size); }
void heap_release(void* memory) noexcept { process_heap().release(memory); }
std::size_t heap_size_of(const void* memory) noexcept { return process_heap().size_of(memory); }

#endif

}  // namespace kube::detail
