// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/arena.hpp"
#include <kube/object/pool.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Content that has no place yet: what a slot will hold once it stands where it belongs.
struct Pending {
  Word word;                          ///< complete unless relative; then it gives count and content
  const std::byte* target = nullptr;  ///< of relative content, in the arena
  bool is_raw = false;                ///< the bits are a number, not a word

  static Pending raw(std::uint64_t bits) { return {Word{bits}, nullptr, true}; }

  static Pending relative(const void* target, std::size_t count, Content content) {
    return {
        Word{static_cast<std::uint64_t>(Form::kRelative) |
             (static_cast<std::uint64_t>(content) << 3) | (static_cast<std::uint64_t>(count) << 5)},
        static_cast<const std::byte*>(target), false};
  }
};

/// Whether a word of `type` is text or bytes.
[[nodiscard]] inline bool is_text(const Type& type) noexcept {
  return type.kind == Kind::kString || type.kind == Kind::kOptionalString ||
         type.kind == Kind::kBytes;
}

/// Puts decoded content into the arena and decides what is shared through the pool.
///
/// Text of some length that two objects have in common, and sub-trees that are byte for byte those of a
/// sibling, become nodes of the pool; all else becomes part of the object's own block.
/// Thread safety: none; belongs to one decoder.
class Assembler {
 public:
  /// `pool` may be null: nothing is shared then.
  explicit Assembler(std::shared_ptr<Pool> pool);

  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] bool shares() const noexcept { return pool_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const noexcept { return pool_; }

  /// Text copied from `text`, shared if another object has been seen to have it. `sibling` is what a similar object
  /// has at the same place, or null.
  Pending text(std::string_view text, const Word* sibling = nullptr);
  /// The same for text that already stands at the bottom of the arena (from allocate_text).
  Pending text_in_place(char* text, std::size_t size, const Word* sibling = nullptr);
  /// Text known to be equal to the sibling's.
  Pending same_text(const Word& sibling) {
    return sibling.form() == Form::kRelative ? copy_same_text(sibling) : same_word(sibling);
  }
  /// A list of texts, for leaves that are stored in pieces.
  Pending pieces(std::span<const std::string_view> texts, const Word* sibling);
  /// The content of `sibling`, a word of `described` (or of a boxed struct, if that is one), whose
  /// encoding of `encoded_size` bytes was found equal; nothing if it is better decoded again.
  std::optional<Pending> share(const Type& described, const Word& sibling,
                               std::size_t encoded_size);

  /// Gives `pending` its place.
  void place(Word& at, const Pending& pending) {
    if (pending.word.form() == Form::kRelative) {
      at.set_relative(pending.target, pending.word.relative_count(),
                      pending.word.relative_content());
    } else if (pending.word.form() == Form::kNode) {
      arena_.set_node_word(at, pending.word);
    } else {
      at = pending.word;
    }
  }
  /// The same for a slot of a list or map of `type`, or a member of that type.
  void place(const Type& type, std::byte* at, const Pending& pending);
  /// Gives `word` (of `type`, or of a boxed struct) a copy of its own in the arena if it refers to a node,
  /// so that it can be added to.
  void thaw(const Type& type, Word& word);
  /// Gives back what `pending` may refer to.
  static void discard(const Pending& pending) noexcept;

  /// Nodes made from a sibling's own content since the last call of start(); tells whether the new
  /// object is a better sibling than the old one.
  [[nodiscard]] std::size_t promoted() const noexcept { return promoted_; }
  /// Begins an object that may take `budget` bytes, in an empty arena. `owner` tells it from others, or is 0 if nothing does: what it
  /// has in common with its own earlier version alone, as its uid, is not worth a node.
  void start(std::size_t budget, std::uint32_t owner);
  /// Gives back what only the next object needs.
  void rest() noexcept {
    arena_.rest();
    node_arena_.rest();
  }

 private:
  /// Where a text was seen last, by fingerprints.
  struct Sighting {
    std::uint32_t text = 0;   ///< 0: none
    std::uint32_t owner = 0;  ///< 0: of several objects, or unknown
  };
  /// Whether another object had this text lately, as far as is known.
  [[nodiscard]] bool seen_elsewhere(std::uint64_t hash);
  /// The place of this text: with its last sighting, or with none, or with one to be forgotten for it.
  [[nodiscard]] Sighting& place_of_sighting(std::uint32_t text) noexcept;
  Pending copy_same_text(const Word& sibling);
  /// A node with the content of `sibling`; nothing if that needs no memory of its own.
  std::optional<Pending> intern_copy(const Type& type, const Word& sibling);
  /// The sibling's word itself: its content is in it, or in a node.
  static Pending same_word(const Word& sibling) noexcept {
    if (sibling.form() == Form::kNode && !sibling.is_held()) sibling.node()->retain();
    return {sibling};
  }

  std::shared_ptr<Pool> pool_;
  Arena arena_;
  Arena node_arena_;
  /// Texts seen lately: one becomes a node when a second object has it.
  std::vector<Sighting> sightings_;
  std::uint32_t owner_ = 0;
  std::size_t new_sightings_ = 0;  // since it has its size
  std::size_t promoted_ = 0;
};

}  // namespace kube::detail
