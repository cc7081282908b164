// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace kube::detail {

/// Allocator for the many objects that caches hold: objects, shared content and table nodes. It has
/// two advantages over malloc. Pieces of similar size are adjacent, in huge pages once there are
/// many of them, which reduces cache and TLB misses; and allocating threads do not contend with
/// threads that release pieces of another size class.
///
/// The address range is reserved once, smaller where it is limited (`ulimit -v`). It is divided
/// into chunks of 2 MiB, and these into spans of 64 KiB, each for pieces of one size class. An
/// empty span can be reused for another size class. The memory of an empty chunk is returned to the
/// system, except for one spare chunk. Pieces above kLargest come from malloc, and so do all pieces
/// when the range is full.
///
/// A released piece carries a keyed checksum. A double release, a release of a pointer that is not
/// a piece, and a write to the start of a released piece end the program with a message. In a
/// program that is built with AddressSanitizer, released pieces are poisoned even if the library is
/// built without it.
///
/// Thread safety: all methods, from any thread.
class Heap {
 public:
  static constexpr std::size_t kLargest = std::size_t{16} << 10;
  static constexpr std::size_t kSpan = std::size_t{64} << 10;
  static constexpr std::size_t kChunk = std::size_t{2} << 20;
  /// The first chunks use small pages, so that a program with small caches does not pay for huge
  /// ones.
  static constexpr std::size_t kSmallChunks = 8;

  /// Reserves an address range, rounded down to chunks. If none is available, for instance because
  /// of a limit, all pieces come from malloc.
  explicit Heap(std::size_t reserved) noexcept;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  /// Precondition: all pieces have been released.
  ~Heap();

  /// Returns memory aligned to 16 bytes. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t size);
  void release(void* memory) noexcept;
  /// The usable size of the piece, at least the requested size.
  [[nodiscard]] std::size_t size_of(const void* memory) const noexcept;
  /// Bytes of the chunks in use.
  [[nodiscard]] std::size_t chunk_bytes() const noexcept;
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return size_; }

  /// Acquire and release all locks around fork(): a lock that another thread holds would never be
  /// released in the child.
  void lock_all() noexcept;
  void unlock_all() noexcept;

 private:
  struct FreePiece {
    std::uint64_t next;   ///< masked address of the next free piece
    std::uint64_t check;  ///< checksum of the address of this piece and of `next`
  };
  /// Bitmap of the pieces of a span that are in use, if the span has few enough. The pieces'
  /// checksums contain the same information, but reading them on release would be a cache miss.
  using InUse = std::array<std::uint64_t, 4>;
  struct alignas(64) Span {
    FreePiece* free;     ///< free list of released pieces
    std::uint32_t next;  ///< next span of this size class that has room
    std::uint32_t previous;
    std::uint32_t fresh;  ///< bytes that were never allocated
    std::uint16_t live;
    std::uint8_t size_class;
    InUse in_use;
  };
  struct alignas(64) SizeClass {
    std::mutex mutex;                       ///< also guards the spans of this size class
    std::uint32_t first_with_room = kNone;  ///< the first span that has room
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kSpansOfChunk = kChunk / kSpan;
  /// In steps of 16 bytes; then 16 classes per doubling.
  static constexpr std::size_t kFineClasses = 32;
  static constexpr std::size_t kClasses = kFineClasses + std::size_t{5} * 16;

  static std::size_t class_for(std::size_t size) noexcept;
  static constexpr std::size_t size_of_class(std::size_t number) noexcept {
    if (number < kFineClasses) return (number + 1) * 16;
    const std::size_t coarse = number - kFineClasses;
    return (coarse % 16 + 17) << (coarse / 16 + 5);
  }
  [[nodiscard]] bool has(const void* memory) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(begin_) <
           size_;
  }
  [[nodiscard]] std::uint32_t span_of(const void* memory) const noexcept {
    return static_cast<std::uint32_t>((static_cast<const std::byte*>(memory) - begin_) / kSpan);
  }
  [[nodiscard]] static bool has_room(const Span& span, std::size_t size) noexcept {
    return span.free != nullptr || span.fresh >= size;
  }
  [[nodiscard]] std::uint64_t check_of(const FreePiece& piece) const noexcept;
  /// Removes `piece` from the free list and returns the next one. Ends the program if the piece was
  /// written to.
  FreePiece* take_free(FreePiece& piece) const noexcept;
  [[nodiscard]] static std::uint64_t index_of(const void* memory, const Span& span) noexcept;
  [[nodiscard]] static bool has_bits(const Span& span) noexcept {
    return size_of_class(span.size_class) * 64 * InUse{}.size() >= kSpan;
  }
  /// Marks a piece as free. Ends the program if `memory` is not a piece of this span, or is not in
  /// use.
  void check_release(const void* memory, Span& span) const noexcept;
  void link(SizeClass& owner, std::uint32_t number) noexcept;
  void unlink(SizeClass& owner, std::uint32_t number) noexcept;
  std::uint32_t take_span() noexcept;
  void give_span(std::uint32_t number) noexcept;

  const std::uint64_t key_;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  Span* spans_ = nullptr;
  std::array<SizeClass, kClasses> classes_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::uint32_t* free_spans_ = nullptr;  ///< per chunk, a bitmap of its free spans
  std::size_t chunks_ = 0;               ///< chunks from this one on have never been used
  std::size_t first_with_room_ = 0;      ///< chunks before this one have no free span
  std::size_t with_memory_ = 0;          ///< number of chunks that have memory
  std::size_t spare_ = SIZE_MAX;         ///< an empty chunk that keeps its memory
};

/// The heap of the process.
[[nodiscard]] void* heap_allocate(std::size_t size);
void heap_release(void* memory) noexcept;
[[nodiscard]] std::size_t heap_size_of(const void* memory) noexcept;

/// Registers handlers for fork(), for locks under which memory is allocated: `before` runs before
/// the heap's locks are taken, `after` runs after they are released, in parent and child. Call
/// before main(), at most four times. Returns true.
bool add_fork_handlers(void (*before)() noexcept, void (*after)() noexcept) noexcept;

}  // namespace kube::detail
