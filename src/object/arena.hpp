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

/// Scratch memory in which an object takes shape before it becomes one block of exact size.
///
/// Structs and arrays grow up from the middle of one reserved stretch of addresses, text grows down, so
/// the finished image is contiguous and is copied once, without any fix-up. Only what was touched is
/// backed by memory, and a large object's memory and addresses are given back afterwards.
///
/// Addresses are reserved with the first allocation: as many as the limit may need, or, by with_room(), as many as an
/// object of some size is likely to need. Where the system grants fewer (`ulimit -v`), the arena makes do with them.
///
/// Ownership: references to pool nodes given to set_node belong to the arena until finish() or clear().
/// Thread safety: none; an arena belongs to one decoder.
class Arena {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{64} << 20;

  /// No image may exceed `limit` bytes of structs or of text.
  explicit Arena(std::size_t limit = kDefaultLimit);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Runs `build`, which makes an object in this arena, with addresses for one of about `expected` bytes; runs it again
  /// with more of them if they did not suffice. The arena is empty before each run, and after a failure.
  /// Throws what `build` throws, and std::bad_alloc.
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

  /// Zeroed memory for structs and arrays, aligned to 8. Throws std::length_error beyond the limit.
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
  /// The same for an object that finish() is to make a block of. To be asked for before anything else.
  std::byte* allocate_root(std::size_t size) {
    return allocate(sizeof(Block) + size) + sizeof(Block);
  }
  /// Memory for text that is yet to be written.
  char* allocate_text(std::size_t size) {
    if (size > static_cast<std::size_t>(bottom_ - committed_bottom_) || used() + size > budget_) {
      make_room(0, size);
    }
    bottom_ -= size;
    return reinterpret_cast<char*>(bottom_);
  }
  /// Gives back the last `unused` bytes asked for: the text turned out shorter.
  void shrink_text(char* text, std::size_t asked, std::size_t used);

  /// Makes `word` (in this arena) hold `text`. Text that is set but empty differs from none.
  void set_text(Word& word, std::string_view text);
  /// Makes `word` refer to `node`, taking over one reference to it.
  void set_node(Word& word, Node* node) { set_node_word(word, Word::of_node(node)); }
  /// Makes `word` refer to the node of `from`: with a reference of its own, which this takes over, or by the bundle
  /// that was lent.
  void set_node_word(Word& word, Word from) {
    const std::size_t index = word_index(word);
    if (index / 64 >= node_words_.size()) make_room_for_node(index, from);
    node_words_[index / 64] |= std::uint64_t{1} << (index % 64);
    held_ += static_cast<std::size_t>(from.is_held());
    word = from;
  }
  /// Makes `word` refer to the same node as `like`, which is in the arena or in the block whose bundle was lent.
  void share_node(Word& word, const Word& like) {
    if (!like.is_held()) like.node()->retain();
    set_node_word(word, like);
  }
  /// Lends the bundle of a similar block, or none: what is taken from that block by share_node() is not counted.
  /// It must live until finish() or clear().
  void lend(Bundle* bundle) noexcept { bundle_ = bundle; }
  /// Makes `to` what `from` is, both in this arena: distances are adjusted, node references counted.
  void assign(Word& to, const Word& from);
  /// Empties `word`, giving back the node it may refer to.
  void drop(Word& word) noexcept;

  /// Limits what the current object may take in all.
  void set_budget(std::size_t bytes) noexcept { budget_ = bytes; }
  /// Bytes taken since the last finish or clear.
  [[nodiscard]] std::size_t used() const noexcept {
    return static_cast<std::size_t>(top_ - bottom_);
  }

  /// The block of the object that allocate_root() began; the arena is empty afterwards. With `for_others` it has a
  /// bundle that suits similar objects to come.
  [[nodiscard]] Block* finish(bool for_others = false);
  /// The finished image as plain bytes and where the root is in it, for making a pool node. The image
  /// must hold no node. The arena keeps it until clear().
  struct Image {
    std::span<const std::byte> bytes;
    std::size_t root = 0;
  };
  [[nodiscard]] Image image(const std::byte* root);
  /// Forgets everything and gives back all node references.
  void clear() noexcept;
  /// The same, and leaves its memory to others until it is needed again.
  void rest() noexcept;
  /// Gives back the memory that arenas leave to the next ones, with what it holds: for who decodes secrets.
  static void drop_idle_memory() noexcept;

 private:
  static constexpr std::size_t kNoBudget = ~std::size_t{0};
  /// There are no more addresses, though the limit allows more.
  struct Full : std::bad_alloc {};

  /// Reserves addresses for an object of about `expected` bytes, if there are fewer. The arena is empty.
  void reserve(std::size_t expected);
  /// Reserves several times as many as `reach`. Throws std::bad_alloc if the system does not grant any more than that.
  void reserve_beyond(std::size_t reach);
  /// Reserves `wanted` bytes for each direction, or fewer, but more than `least`. False if that is not granted.
  bool map_region(std::size_t wanted, std::size_t least) noexcept;
  void unmap_region() noexcept;
  /// Makes that many more bytes accessible. Throws std::length_error beyond limit or budget, Full without addresses.
  void make_room(std::size_t up, std::size_t down);
  /// Makes the word with that index markable; gives back `word`'s reference if there is no memory for it.
  void make_room_for_node(std::size_t index, Word word);
  /// How the nodes of a block are held.
  enum class Holding { kBundleOfOwn, kLentBundle, kEach };
  [[nodiscard]] Holding choose_holding(bool for_others) const;
  /// Brings the words in line with it. Returns the bundle of the block, for which `own` is to be filled.
  Bundle* hold_nodes(Holding holding, Bundle* own) noexcept;
  [[nodiscard]] std::size_t word_index(const Word& word) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&word) - middle_) / 8;
  }
  /// Calls `see` for each word that refers to a node.
  template <typename See>
  void for_each_node_word(See see) const;
  /// Fills steps_. Returns how many words have a reference.
  std::size_t list_steps();
  /// So that text begins at a word.
  void pad_text();
  void reset() noexcept;

  std::size_t limit_;
  std::size_t reach_ = 0;  // addresses in each direction; 0: none are reserved
  std::byte* middle_ = nullptr;
  std::byte* top_ = nullptr;     // structs: [middle_, top_)
  std::byte* bottom_ = nullptr;  // text: [bottom_, middle_)
  std::byte* committed_top_ = nullptr;
  std::byte* committed_bottom_ = nullptr;
  std::size_t budget_ = kNoBudget;
  Bundle* bundle_ = nullptr;               // lent
  std::vector<std::uint64_t> node_words_;  // a bit per word from middle_ on: it refers to a node
  std::size_t held_ = 0;                   // of these, how many a bundle holds
  std::vector<std::uint8_t> steps_;        // the table of a block; scratch
};

}  // namespace kube::detail
