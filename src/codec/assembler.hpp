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

/// Decoded content that is not yet stored in a slot.
struct Pending {
  Word word;  ///< complete unless relative; then it only has count and content
  const std::byte* target = nullptr;  ///< target of relative content, in the arena
  bool is_raw = false;                ///< the bits are a number, not a word

  static Pending raw(std::uint64_t bits) { return {Word{bits}, nullptr, true}; }

  static Pending relative(const void* target, std::size_t count, Content content) {
    return {
        Word{static_cast<std::uint64_t>(Form::kRelative) |
             (static_cast<std::uint64_t>(content) << 3) | (static_cast<std::uint64_t>(count) << 5)},
        static_cast<const std::byte*>(target), false};
  }
};

/// True if a word of `type` is text or bytes.
[[nodiscard]] inline bool is_text(const Type& type) noexcept {
  return type.kind == Kind::kString || type.kind == Kind::kOptionalString ||
         type.kind == Kind::kBytes;
}

/// Stores decoded content in the arena, and decides which content is shared through the pool.
///
/// Longer text that two objects have in common, and sub-trees that are byte for byte equal to those
/// of a sibling, become nodes of the pool. All other content becomes part of the object's own
/// block.
/// Thread safety: none; belongs to one decoder.
class Assembler {
 public:
  /// `pool` may be null; then nothing is shared.
  explicit Assembler(std::shared_ptr<Pool> pool);

  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] bool shares() const noexcept { return pool_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const noexcept { return pool_; }

  /// Returns a copy of `text`, shared if another object is known to have the same text. `sibling`
  /// is the word of a similar object at the same place, or null.
  Pending text(std::string_view text, const Word* sibling = nullptr);
  /// As above, for text that is already at the bottom of the arena (from allocate_text).
  Pending text_in_place(char* text, std::size_t size, const Word* sibling = nullptr);
  /// Returns text that is known to be equal to the sibling's.
  Pending same_text(const Word& sibling) {
    return sibling.form() == Form::kRelative ? copy_same_text(sibling) : same_word(sibling);
  }
  /// Returns a list of texts, for leaves that are stored in pieces.
  Pending pieces(std::span<const std::string_view> texts, const Word* sibling);
  /// Returns the content of `sibling`, a word of `described` (or of a boxed struct, if that is
  /// one), whose encoding of `encoded_size` bytes is equal. Returns nullopt if decoding it again is
  /// better.
  std::optional<Pending> share(const Type& described, const Word& sibling,
                               std::size_t encoded_size);

  /// Stores `pending` in its final slot.
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
  /// As above, for a slot of a list or map of `type`, or a member of that type.
  void place(const Type& type, std::byte* at, const Pending& pending);
  /// Replaces a node that `word` (of `type`, or of a boxed struct) refers to by a copy in the
  /// arena, so that content can be added to it.
  void thaw(const Type& type, Word& word);
  /// Releases the node that `pending` may refer to.
  static void discard(const Pending& pending) noexcept;

  /// Number of nodes made from a sibling's own content since start(). If there are any, the new
  /// object is a better sibling than the old one.
  [[nodiscard]] std::size_t promoted() const noexcept { return promoted_; }
  /// Starts an object that may take `budget` bytes, in an empty arena. `owner` is a fingerprint
  /// that identifies the object, or 0 if it is unknown: text that an object only shares with its
  /// own earlier version, such as its uid, is not worth a node.
  void start(std::size_t budget, std::uint32_t owner);
  /// True if it remembers texts of earlier objects.
  [[nodiscard]] bool has_sightings() const noexcept { return !sightings_.empty(); }
  /// Releases memory that is only needed for the next object.
  void rest() noexcept {
    arena_.rest();
    node_arena_.rest();
  }

 private:
  /// Fingerprints of a text and of the object that it was last seen in.
  struct Sighting {
    std::uint32_t text = 0;   ///< 0: empty
    std::uint32_t owner = 0;  ///< 0: several objects, or unknown
  };
  /// True if another object is known to have had this text recently.
  [[nodiscard]] bool seen_elsewhere(std::uint64_t hash);
  /// Returns the slot for this text: the one with its last sighting, an empty one, or one to be
  /// replaced.
  [[nodiscard]] Sighting& sighting_slot(std::uint32_t text) noexcept;
  Pending copy_same_text(const Word& sibling);
  /// Returns a node with the content of `sibling`, or nullopt if that needs no memory of its own.
  std::optional<Pending> intern_copy(const Type& type, const Word& sibling);
  /// Returns the sibling's word itself, whose content is inline or in a node.
  static Pending same_word(const Word& sibling) noexcept {
    if (sibling.form() == Form::kNode && !sibling.is_held()) sibling.node()->retain();
    return {sibling};
  }

  std::shared_ptr<Pool> pool_;
  Arena arena_;
  Arena node_arena_;
  /// Recently seen texts: a text becomes a node when a second object has it.
  std::vector<Sighting> sightings_;
  std::uint32_t owner_ = 0;
  std::size_t new_sightings_ = 0;  // since the table was resized
  std::size_t promoted_ = 0;
};

}  // namespace kube::detail
