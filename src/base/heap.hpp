// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace kube::detail {

/// Memory for what caches hold by the hundred thousand: objects, what they share, and the nodes of tables. Against
/// malloc it has two advantages. Pieces of like size stand side by side, in huge pages once there are many of them,
/// so that the processor finds more of them at hand; and threads that allocate do not wait for those that
/// release pieces of another size.
///
/// Addresses are reserved once and for all, fewer where they are limited (`ulimit -v`). They are handed out by chunks of
/// 2 MiB, these by spans of 64 KiB, each for pieces of one size; a span without pieces can be used for another size, and
/// the memory of a chunk without pieces goes back to the system, except for one. Pieces above kLargest are malloc's, and
/// so are all when the addresses are used up.
///
/// A released piece has a keyed checksum. A second release, a release of what is no piece, and a write to the start of
/// a released piece end the program with a message. In a program that is built with AddressSanitizer, released pieces
/// are poisoned even if the library is built without it.
/// Thread safety: all methods, from any thread.
class Heap {
 public:
  static constexpr std::size_t kLargest = std::size_t{16} << 10;
  static constexpr std::size_t kSpan = std::size_t{64} << 10;
  static constexpr std::size_t kChunk = std::size_t{2} << 20;
  /// So many chunks have small pages: a program with little in its caches is not to pay for large ones.
  static constexpr std::size_t kSmallChunks = 8;

  /// Reserves addresses, rounded to chunks. Without any, for instance because of a limit, everything is malloc's.
  explicit Heap(std::size_t reserved) noexcept;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  /// All pieces have been released.
  ~Heap();

  /// At a multiple of 16. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t size);
  void release(void* memory) noexcept;
  /// What the piece takes, at least what was asked for.
  [[nodiscard]] std::size_t size_of(const void* memory) const noexcept;
  /// Memory of chunks in use, in bytes.
  [[nodiscard]] std::size_t chunk_bytes() const noexcept;
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return size_; }

  /// Acquires and releases all locks, around fork(): without that, one that another thread holds would never be
  /// released in the child.
  void lock_all() noexcept;
  void unlock_all() noexcept;

 private:
  struct FreePiece {
    std::uint64_t next;   ///< the address of the next one, masked
    std::uint64_t check;  ///< of this address and the field before
  };
  /// Which pieces of a span are in use, if there are not too many of them. The pieces themselves tell, too, but are in no
  /// cache of the processor when they are released.
  using InUse = std::array<std::uint64_t, 4>;
  struct alignas(64) Span {
    FreePiece* free;     ///< released pieces
    std::uint32_t next;  ///< with room, of the same size
    std::uint32_t previous;
    std::uint32_t fresh;  ///< bytes that were never handed out
    std::uint16_t live;
    std::uint8_t size_class;
    InUse in_use;
  };
  struct alignas(64) SizeClass {
    std::mutex mutex;             ///< guards spans of this size, too
    std::uint32_t roomy = kNone;  ///< the first of them that has room
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kSpansOfChunk = kChunk / kSpan;
  static constexpr std::size_t kFineClasses = 32;  ///< 16 bytes apart; then 16 for each doubling
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
  /// The next one after `piece`, which is no longer free. Ends the program if it was written to.
  FreePiece* take_free(FreePiece& piece) const noexcept;
  [[nodiscard]] static std::uint64_t index_of(const void* memory, const Span& span) noexcept;
  [[nodiscard]] static bool has_bits(const Span& span) noexcept {
    return size_of_class(span.size_class) * 64 * InUse{}.size() >= kSpan;
  }
  /// Marks a piece as no longer in use. Ends the program if `memory`, in that span, is no piece or not in use.
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
  // The rest is guarded by it.
  std::uint32_t* free_spans_ = nullptr;  ///< of each chunk, as bits
  std::size_t chunks_ = 0;               ///< those from here on have never been used
  std::size_t first_with_room_ = 0;      ///< no chunk before it has a free span
  std::size_t with_memory_ = 0;          ///< chunks
  std::size_t spare_ = SIZE_MAX;         ///< a chunk without pieces that has memory
};

/// The one of the process.
[[nodiscard]] void* heap_allocate(std::size_t size);
void heap_release(void* memory) noexcept;
[[nodiscard]] std::size_t heap_size_of(const void* memory) noexcept;

/// Calls `before` before each fork() and `after` behind it, in parent and child, with the locks of the heap being taken
/// in between: for locks under which memory is allocated. To be called before main(), at most four times.
/// Returns true.
bool add_fork_handlers(void (*before)() noexcept, void (*after)() noexcept) noexcept;

}  // namespace kube::detail
