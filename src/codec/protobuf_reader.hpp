// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/assembler.hpp"
#include "codec/projection_node.hpp"
#include <kube/codec/options.hpp>
#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

/// Forces inlining of the few small functions on the hot path, where a call is measurable.
#define KUBE_HOT [[gnu::always_inline]] inline

namespace kube::detail {

/// Decodes one protobuf message of any described type into an assembler's arena.
///
/// With a sibling (the message and decoded form of a similar object), it walks both messages side
/// by side: fields that are equal byte for byte are shared or copied instead of parsed.
class ProtobufReader {
 public:
  struct Sibling {
    std::string_view message;
    const std::byte* object = nullptr;
  };

  ProtobufReader(Assembler& assembler, const DecodeLimits& limits)
      : assembler_(assembler), arena_(assembler.arena()), limits_(limits) {}

  /// Leaves the decoded object in the arena, ready for Arena::finish(). Throws CodecError; the
  /// caller must then clear the arena. `offset` is the position of `message` in the whole document,
  /// for error messages.
  void read(const Type& type, std::string_view message, const Projection& projection,
            const Sibling& sibling, std::size_t offset);
  /// True if the last message had each field once and in order. Only such a message may be a
  /// sibling: otherwise equal bytes of one field do not imply equal content.
  [[nodiscard]] bool is_regular() const noexcept { return is_regular_; }

 private:
  using Keep = const Projection::Node*;  // null: everything

  enum Wire : std::uint32_t {
    kVarint = 0,
    kFixed64 = 1,
    kLengthDelimited = 2,
    kStartGroup = 3,
    kEndGroup = 4,
    kFixed32 = 5,
  };
  static constexpr std::uint32_t number_of(std::uint32_t tag) { return tag >> 3; }
  static constexpr std::uint32_t wire_of(std::uint32_t tag) { return tag & 7U; }
  static bool is_scalar(const Type& type) noexcept { return type.kind <= Kind::kOptionalDouble; }

  /// The rest of the sibling's message, and its decoded struct; null without a sibling.
  struct Follower {
    const char* at = nullptr;
    const char* end = nullptr;
    const std::byte* object = nullptr;
  };
  /// The sibling's content at the same place: its word (null if there is none), its payload, and
  /// whether that equals the current one.
  struct Like {
    const Word* word = nullptr;
    std::string_view payload = {};
    bool equal = false;

    /// A follower for the content of this field.
    [[nodiscard]] Follower inside(const std::byte* object) const noexcept {
      return {payload.data(), payload.data() + payload.size(), object};
    }
  };
  /// Consecutive length-delimited fields with the same tag.
  struct Run {
    const char* start = nullptr;  ///< the tag of the first field
    const char* end = nullptr;
    std::size_t tag_size = 0;
    std::size_t count = 0;
    [[nodiscard]] std::string_view bytes() const noexcept {
      return {start, static_cast<std::size_t>(end - start)};
    }
  };

  void message(const Type& type, std::span<const ProtoField> table, std::byte* out,
               std::string_view content, Follower sibling, Keep keep, int depth);
  /// Positions of the next field, in the message and in the sibling's message.
  struct Step {
    const char* at = nullptr;
    const char* sibling = nullptr;
  };
  /// Reads a field that is neither text nor number. Not inlined, like new_text(): both would take
  /// registers that the loop over all fields needs.
  [[gnu::noinline]] Step structured(const Type& type, const ProtoField& entry, std::byte* out,
                                    const char* start, const char* at, const char* end,
                                    Follower sibling, Keep keep, int depth);
  /// Reads a text that is not the sibling's next field. Returns the position of the sibling's next
  /// field.
  [[gnu::noinline]] const char* new_text(const Type& type, Word& word, std::uint32_t tag,
                                         std::string_view payload, Follower sibling,
                                         std::size_t offset);
  /// Reads one field that is neither text nor number, list nor map.
  void field(const Field& field, std::byte* out, std::string_view payload, const Like& like,
             Keep keep, int depth);
  void box(const Type& element, Word& word, std::string_view payload, const Like& like, Keep keep,
           int depth);
  /// Lists and maps return the position of the sibling's next field.
  const char* list(const Type& type, Word& word, const Run& run, Follower sibling,
                   const Word* sibling_word, Keep keep, int depth);
  void wrapped_list(const Type& type, Word& word, std::string_view payload, Keep keep, int depth);
  void packed_list(const Type& type, Word& word, std::string_view payload);
  /// Reads numbers that have a tag each. Returns the position of the next field.
  const char* unpacked_list(const Type& type, Word& word, std::uint32_t tag, const char* at,
                            const char* end);
  const char* map(const Type& type, Word& word, const Run& run, Follower sibling,
                  const Word* sibling_word, Keep keep, int depth);
  /// Returns false if the projection drops the entry.
  bool map_entry(const Type& value_type, std::byte* slot, std::string_view entry, View siblings,
                 std::size_t index, Keep keep, int depth);
  /// Reads one value of a list or map, neither a number nor a struct, into its final slot.
  void single(const Type& type, std::byte* slot, std::string_view payload, const Word* sibling,
              Keep keep, int depth);
  /// Returns the position of the next field.
  const char* scalar(const Type& type, std::byte* out, std::uint32_t wire, const char* at,
                     const char* end);
  void leaf(const Type& type, std::byte* out, std::string_view payload, const Word* sibling);
  Pending text(const Type& type, std::string_view bytes, const Word* sibling);
  std::byte* grow_array(const Type& container, Word& word, std::size_t more);

  /// Takes the sibling's equal text.
  KUBE_HOT void take_text(Word& word, const Word& sibling) {
    if (sibling.form() == Form::kRelative) {
      assembler_.place(word, assembler_.same_text(sibling));
    } else {
      take_word(word, sibling);
    }
  }
  /// Takes a word whose content is inline or in a node.
  KUBE_HOT void take_word(Word& word, const Word& sibling) {
    if (sibling.form() == Form::kNode) {
      arena_.share_node(word, sibling);
    } else {
      word = sibling;
    }
  }
  /// Takes the sibling's equal content, if that is better than decoding it again.
  KUBE_HOT bool share(const Type& type, Word& word, const Like& like) {
    // An earlier part of the same field; this one is merged into it.
    if (!word.is_none()) return false;
    if (like.word->form() == Form::kNode) {
      take_word(word, *like.word);
      return true;
    }
    return share_new(type, word, like);
  }
  bool share_new(const Type& type, Word& word, const Like& like);

  // One and two bytes, which nearly all tags and lengths have, are read inline.
  KUBE_HOT std::uint64_t varint(const char*& at, const char* end) {
    const std::ptrdiff_t left = end - at;
    if (left > 0 && at[0] >= 0) return static_cast<unsigned char>(*at++);
    if (left > 1 && at[1] >= 0) {
      const auto number = (static_cast<unsigned char>(at[0]) & 0x7fU) |
                          (static_cast<unsigned>(static_cast<unsigned char>(at[1])) << 7);
      at += 2;
      return number;
    }
    // Takes the address of a copy, so that `at` itself can stay in a register.
    const char* copy = at;
    const std::uint64_t number = long_varint(copy, end);
    at = copy;
    return number;
  }
  std::uint64_t long_varint(const char*& at, const char* end);
  KUBE_HOT std::uint32_t read_tag(const char*& at, const char* end) {
    const char* const start = at;
    const std::uint64_t tag = varint(at, end);
    if (tag - 8 > std::uint64_t{0xffffffff} - 8) fail_tag(start, "malformed field tag");
    return static_cast<std::uint32_t>(tag);
  }
  KUBE_HOT std::string_view bytes(const char*& at, const char* end) {
    const char* const start = at;
    const std::uint64_t size = varint(at, end);
    if (size > static_cast<std::uint64_t>(end - at)) fail_length(start, size);
    const std::string_view payload{at, static_cast<std::size_t>(size)};
    at += size;
    return payload;
  }
  /// Returns the position of the next field.
  [[nodiscard]] const char* skip(std::uint32_t tag, const char* at, const char* end, int depth);
  /// Returns the consecutive fields with the tag at `start`; `at` is the position after that tag.
  KUBE_HOT Run run(const char* start, const char* at, const char* end) {
    Run found{start, nullptr, static_cast<std::size_t>(at - start), 0};
    for (;;) {
      (void)bytes(at, end);
      ++found.count;
      if (at >= end || !same_tag(at, end, start, found.tag_size)) break;
      at += found.tag_size;
    }
    found.end = at;
    return found;
  }
  KUBE_HOT static bool same_tag(const char* at, const char* end, const char* tag,
                                std::size_t size) noexcept {
    if (*at != *tag) return false;
    return size == 1 || (static_cast<std::size_t>(end - at) >= size &&
                         std::memcmp(at + 1, tag + 1, size - 1) == 0);
  }

  /// memcmp() == 0 with an inline path for short pieces and for the first bytes of long ones.
  KUBE_HOT static bool same_bytes(const char* a, const char* b, std::size_t size) noexcept {
    const auto word = [](const char* at) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, at, 8);
      return bits;
    };
    const auto half = [](const char* at) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, at, 4);
      return bits;
    };
    if (size >= 8) {
      if (word(a) != word(b) || word(a + size - 8) != word(b + size - 8)) return false;
      if (size <= 16) return true;
      if (size > 32) return std::memcmp(a + 8, b + 8, size - 16) == 0;
      return word(a + 8) == word(b + 8) && word(a + size - 16) == word(b + size - 16);
    }
    if (size >= 4) return half(a) == half(b) && half(a + size - 4) == half(b + size - 4);
    return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
  }
  /// True if the sibling's next field, including its tag, equals the one from `start` to `end`.
  KUBE_HOT static bool is_next(const char* start, const char* end,
                               const Follower& sibling) noexcept {
    const auto size = static_cast<std::size_t>(end - start);
    return static_cast<std::size_t>(sibling.end - sibling.at) >= size &&
           same_bytes(sibling.at, start, size);
  }
  /// Finds the sibling's field with this tag. The caller sets the word of the result.
  Like follow(std::uint32_t tag, std::string_view payload, Follower& sibling);
  /// Moves the sibling to its next field with this tag, if there is one before any higher number.
  bool seek(std::uint32_t tag, Follower& sibling);
  /// True if the sibling's next fields with this tag equal `run`.
  KUBE_HOT static bool is_next_run(const Run& run, const Follower& sibling) noexcept {
    if (!is_next(run.start, run.end, sibling)) return false;
    const char* const behind = sibling.at + (run.end - run.start);
    return behind >= sibling.end || !same_tag(behind, sibling.end, run.start, run.tag_size);
  }

  [[noreturn]] void fail(const char* at, std::string_view problem) const;
  [[noreturn]] void fail_tag(const char* at, std::string_view problem) const;
  [[noreturn]] void fail_length(const char* at, std::uint64_t size) const;
  [[noreturn]] void fail_wire(const Type& type, std::uint32_t wire, const char* at) const;

  Assembler& assembler_;
  Arena& arena_;
  const DecodeLimits& limits_;
  const Type* type_ = nullptr;
  std::string_view message_;
  std::size_t offset_ = 0;
  bool is_regular_ = true;
};

}  // namespace kube::detail

#undef KUBE_HOT
