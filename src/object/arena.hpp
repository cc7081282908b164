// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/bundle.hpp"
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Scratch memory in which an object is built before it becomes one block of exact size.
///
/// Structs and arrays grow up from the middle of one reserved address range, text grows down. So
/// the finished image is contiguous and is copied once, without fix-ups. Only touched pages are
/// backed by memory; the memory and addresses of a large object are released afterwards.
///
/// Addresses are reserved at the first allocation: as many as the limit may need, or, in
/// with_room(), as many as an object of the expected size is likely to need. If the system grants
/// fewer (`ulimit -v`), the arena works with these.
///
/// Ownership: references to pool nodes passed to set_node() belong to the arena until finish() or
/// clear().
/// Thread safety: none; an arena belongs to one decoder.
class Arena {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{64} << 20;

  /// `limit` is the maximum size of the structs and of the text of an image, in bytes each.
  explicit Arena(std::size_t limit = kDefaultLimit);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Runs `build`, which builds an object in this arena, with addresses for about `expected` bytes.
  /// Runs it again with more addresses if they do not suffice. The arena is empty before each run,
  /// and after a failure. Throws what `build` throws, and std::bad_alloc.
  template <typename Build>
  auto with_room(std::size_t expected, Build build) {
    clear();
    reserve(expected);
    for (;;) {
      try {
        return build();
      } catch (const Full&) {
        const std::size_t reach = reach_;
        clear();
        reserve_beyond(reach);
      } catch (...) {
        clear();
        throw;
      }
    }
  }

  /// Returns zeroed memory for structs and arrays, aligned to 8. Throws std::length_error beyond
  /// the limit.
  std::byte* allocate(std::size_t size) {
    size = (size + 7) & ~std::size_t{7};
    if (size > static_cast<std::size_t>(committed_top_ - top_) || used() + size > budget_) {
      make_room(size, 0);
    }
    std::byte* memory = top_;
    top_ += size;
    std::memset(memory, 0, size);
    return memory;
  }
  /// Allocates the root object of the block that finish() will make. Must be the first allocation.
  std::byte* allocate_root(std::size_t size) {
    return allocate(sizeof(Block) + size) + sizeof(Block);
  }
  /// Returns uninitialised memory for text.
  char* allocate_text(std::size_t size) {
    if (size > static_cast<std::size_t>(bottom_ - committed_bottom_) || used() + size > budget_) {
      make_room(0, size);
    }
    bottom_ -= size;
    return reinterpret_cast<char*>(bottom_);
  }
  /// Returns the unused end of the last allocation of text, which turned out shorter than `asked`.
  void shrink_text(char* text, std::size_t asked, std::size_t used);

  /// Stores `text` in `word`, which is in this arena. Text that is set but empty differs from none.
  void set_text(Word& word, std::string_view text);
  /// Makes `word` refer to `node`, taking over one reference to it.
  void set_node(Word& word, Node* node) { set_node_word(word, Word::of_node(node)); }
  /// Makes `word` refer to the node of `from`: with a reference of its own, which is taken over, or
  /// through the lent bundle.
  void set_node_word(Word& word, Word from) {
    const std::size_t index = word_index(word);
    if (index / 64 >= node_words_.size()) make_room_for_node(index, from);
    node_words_[index / 64] |= std::uint64_t{1} << (index % 64);
    held_ += static_cast<std::size_t>(from.is_held());
    word = from;
  }
  /// Makes `word` refer to the same node as `like`, which is in the arena or in the block whose
  /// bundle was lent.
  void share_node(Word& word, const Word& like) {
    if (!like.is_held()) like.node()->retain();
    set_node_word(word, like);
  }
  /// Lends the bundle of a similar block, or none: share_node() does not count references to nodes
  /// of that block. The bundle must live until finish() or clear().
  void lend(Bundle* bundle) noexcept { bundle_ = bundle; }
  /// Copies `from` to `to`, both in this arena: adjusts distances and counts node references.
  void assign(Word& to, const Word& from);
  /// Empties `word` and releases the node that it may refer to.
  void drop(Word& word) noexcept;

  /// Limits the total size of the current object.
  void set_budget(std::size_t bytes) noexcept { budget_ = bytes; }
  /// Bytes used since the last finish() or clear().
  [[nodiscard]] std::size_t used() const noexcept {
    return static_cast<std::size_t>(top_ - bottom_);
  }

  /// Returns the block of the object that allocate_root() started, and empties the arena. With
  /// `for_others` the block has a bundle for similar objects to come.
  [[nodiscard]] Block* finish(bool for_others = false);
  /// The finished image as plain bytes, and the offset of its root, for a pool node. The image must
  /// not refer to nodes. Valid until clear().
  struct Image {
    std::span<const std::byte> bytes;
    std::size_t root = 0;
  };
  [[nodiscard]] Image image(const std::byte* root);
  /// Empties the arena and releases all node references.
  void clear() noexcept;
  /// As clear(), and leaves the memory to other arenas until this one is used again.
  void rest() noexcept;
  /// Returns the memory in the free list to the system, with its contents. For programs that decode
  /// secrets.
  static void drop_idle_memory() noexcept;

 private:
  static constexpr std::size_t kNoBudget = ~std::size_t{0};
  /// Thrown when the reserved addresses are used up although the limit allows more.
  struct Full : std::bad_alloc {};

  /// Reserves addresses for an object of about `expected` bytes, if the range is smaller. The arena
  /// must be empty.
  void reserve(std::size_t expected);
  /// Reserves a multiple of `reach`. Throws std::bad_alloc if the system does not grant more than
  /// `reach`.
  void reserve_beyond(std::size_t reach);
  /// Reserves `wanted` bytes for each direction, or fewer, but more than `least`. Returns false if
  /// that is not granted.
  bool map_region(std::size_t wanted, std::size_t least) noexcept;
  void unmap_region() noexcept;
  /// Commits that many more bytes. Throws std::length_error beyond limit or budget, and Full if the
  /// addresses are used up.
  void make_room(std::size_t up, std::size_t down);
  /// Extends the bitmap to this index. Releases the reference of `word` if memory is exhausted.
  void make_room_for_node(std::size_t index, Word word);
  /// How a block holds its nodes.
  enum class Holding { kBundleOfOwn, kLentBundle, kEach };
  [[nodiscard]] Holding choose_holding(bool for_others) const;
  /// Adapts the words to `holding`. Returns the bundle of the block; kBundleOfOwn fills `own` for
  /// it.
  Bundle* hold_nodes(Holding holding, Bundle* own) noexcept;
  [[nodiscard]] std::size_t word_index(const Word& word) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&word) - middle_) / 8;
  }
  /// Calls `see` for each word that refers to a node.
  template <typename See>
  void for_each_node_word(See see) const;
  /// Fills steps_. Returns the number of words that hold a reference.
  std::size_t list_steps();
  /// Pads the text so that it starts at a word boundary.
  void pad_text();
  void reset() noexcept;

  std::size_t limit_;
  std::size_t reach_ = 0;  // addresses per direction; 0: none reserved
  std::byte* middle_ = nullptr;
  std::byte* top_ = nullptr;     // structs: [middle_, top_)
  std::byte* bottom_ = nullptr;  // text: [bottom_, middle_)
  std::byte* committed_top_ = nullptr;
  std::byte* committed_bottom_ = nullptr;
  std::size_t budget_ = kNoBudget;
  Bundle* bundle_ = nullptr;               // lent; not owned
  std::vector<std::uint64_t> node_words_;  // one bit per word from middle_ on: it refers to a node
  std::size_t held_ = 0;                   // how many of these a bundle holds
  std::vector<std::uint8_t> steps_;        // scratch: the table of node words of a block
};

}  // namespace kube::detail
