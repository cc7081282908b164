// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/assembler.hpp"
#include "codec/json_scanner.hpp"
#include "codec/path.hpp"
#include "codec/projection_node.hpp"
#include <kube/codec/options.hpp>
#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Positions of the values of a decoded JSON document in its text, in reading order. It serves the
/// purpose of the lengths in protobuf: a later document can be compared piece by piece.
struct JsonTape {
  struct Entry {
    std::uint32_t start;  ///< start of the value
    std::uint32_t end;
    std::uint32_t next;  ///< index of the entry after this one and its content
    /// Identifies the member: index of the field, or distance of its key before `start`.
    std::uint32_t tag;
  };
  std::vector<Entry> entries;
};

/// Decodes a JSON document of any described type into an assembler's arena, in one pass.
///
/// With a sibling (text, tape and decoded form of a similar document), values that are equal byte
/// for byte are shared or copied instead of parsed.
class JsonReader {
 public:
  struct Sibling {
    std::string_view text;
    const JsonTape* tape = nullptr;
    const std::byte* object = nullptr;
  };

  JsonReader(Assembler& assembler, const DecodeLimits& limits)
      : assembler_(assembler), arena_(assembler.arena()), limits_(limits) {}

  /// Leaves the decoded object in the arena, ready for Arena::finish(). Throws CodecError; the
  /// caller must then clear the arena. Fills `tape`, if given.
  void read(const Type& type, std::string_view text, const Projection& projection,
            const Sibling& sibling, JsonTape* tape, std::size_t offset);
  /// True if no object of the last document had duplicate names. Only such a document may be a
  /// sibling.
  [[nodiscard]] bool is_regular() const noexcept { return is_regular_; }

 private:
  static constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};
  static constexpr std::uint32_t kCreditPerMember = 8;
  static constexpr std::uint32_t kMostCredit = 256;

  struct Context {
    const Projection::Node* keep;
    const PathFrame* path;
    int depth;
  };
  /// The sibling's value at the same place: its tape entry and its decoded form.
  struct Like {
    std::uint32_t entry = kNoEntry;
    const std::byte* value = nullptr;
  };
  /// Iterates over the members of the sibling's object or array.
  struct Members {
    std::uint32_t next = 0;
    std::uint32_t end = 0;
    /// Number of members that find_key() may still inspect. Each member that is read adds some, so
    /// that the total time is linear in the size of the document, whatever the order of its
    /// members.
    std::uint32_t credit = kMostCredit;
  };
  class Recording;

  void object(const Type& type, std::byte* out, Like like, const Context& context);
  /// Fails if the document has another kind or apiVersion than `type`. Does not move the scanner.
  void check_type_meta(const Type& type, std::string_view name, const PathFrame* path);
  void member(const Field& field, std::byte* place, Like like, const Context& context);
  /// Reads a union, whose form is determined by the first character.
  void by_token(const Type& type, std::byte* out, const Context& context);
  /// Reads a word, a boxed struct or a number that is not yet stored in a slot.
  Pending value(const Type& type, Like like, const Context& context);
  Pending boxed_struct(const Type& type, Like like, const Context& context);
  Pending list(const Type& type, Like like, const Context& context);
  Pending map(const Type& type, Like like, const Context& context);
  Pending any(Like like, const Context& context);
  Pending any_number(const Context& context);
  Pending text(const Type& type, const Word* sibling, const Context& context);
  Pending leaf(const Type& type, const Word* sibling, const Context& context);
  Pending scalar(const Type& type, const Context& context);
  void optional_scalar(const Type& type, std::byte* out, const Context& context);
  /// Reads a key after its opening quote. The result is in `storage` or in the document.
  std::string_view key(std::string& storage, const PathFrame* path);
  /// Appends to pending_, which takes over the reference to a node.
  void push(const Pending& pending) {
    if (pending_.size() == pending_.capacity()) make_room_for(pending);
    pending_.push_back(pending);
  }
  /// Grows pending_. Releases the node of `pending` if memory is exhausted.
  void make_room_for(const Pending& pending);
  /// Converts the elements pushed since `base` to an array.
  Pending finish_list(const Type& element, std::size_t base);
  Pending finish_map(const Type& value_type, std::size_t base);
  void merge_map(const Type& type, Word& word, const Pending& added);
  void enter(const Context& context) const;

  [[nodiscard]] bool equals(std::uint32_t entry) const noexcept;
  [[nodiscard]] std::size_t size_of(std::uint32_t entry) const noexcept {
    return sibling_.tape->entries[entry].end - sibling_.tape->entries[entry].start;
  }
  /// Skips a value that equals the sibling's, and copies its tape entries.
  void jump(std::uint32_t entry);
  [[nodiscard]] Members members_of(const Like& like) const noexcept;
  [[nodiscard]] std::uint32_t find_field(Members& members, std::size_t index) const noexcept;
  /// Returns the member with this key at `members.next` or shortly after it, or kNoEntry.
  [[nodiscard]] std::uint32_t find_key(Members& members, std::string_view quoted) const noexcept;

  Assembler& assembler_;
  Arena& arena_;
  const DecodeLimits& limits_;
  JsonScanner scan_;
  Sibling sibling_;
  JsonTape* tape_ = nullptr;
  bool is_regular_ = true;
  std::vector<Pending> pending_;  // elements and entries of lists and maps that are not complete
};

}  // namespace kube::detail
