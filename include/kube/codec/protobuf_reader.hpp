// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/assembler.hpp>
#include <kube/codec/options.hpp>
#include <kube/codec/path.hpp>
#include <kube/codec/projection.hpp>
#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace kube::detail {

/// Decodes one protobuf message of any described type into an assembler's arena.
///
/// With a sibling (the message and decoded form of a similar object) it walks both messages side by
/// side: what is equal byte for byte is shared or copied, not parsed.
class ProtobufReader {
 public:
  struct Sibling {
    std::string_view message;
    const std::byte* object = nullptr;
  };

  ProtobufReader(Assembler& assembler, const DecodeLimits& limits)
      : assembler_(assembler), arena_(assembler.arena()), limits_(limits) {}

  /// The decoded object, at an address in the arena. Throws CodecError; the arena is then to be cleared.
  /// `offset` is where `message` starts in the whole document, for error messages.
  std::byte* read(const Type& type, std::string_view message, const Projection& projection,
                  const Sibling& sibling, std::size_t offset);
  /// Whether the last message had each field once and in order. Only then may it be a sibling: otherwise
  /// equal bytes of one field do not mean equal content.
  [[nodiscard]] bool is_regular() const noexcept { return is_regular_; }

 private:
  struct Cursor {
    const char* at = nullptr;
    const char* end = nullptr;
    Cursor() = default;
    Cursor(const char* from, const char* to) : at(from), end(to) {}
    explicit Cursor(std::string_view bytes) : at(bytes.data()), end(at + bytes.size()) {}
    [[nodiscard]] bool done() const noexcept { return at >= end; }
    [[nodiscard]] std::string_view rest() const noexcept {
      return {at, static_cast<std::size_t>(end - at)};
    }
  };
  /// The sibling's message as far as it was walked, and its decoded struct; null without a sibling.
  struct Follower {
    Cursor cursor;
    const std::byte* object = nullptr;
  };
  /// The sibling's value at the same place: its word (null if it has none), its payload, and whether that
  /// equals the one being read.
  struct Like {
    const Word* word = nullptr;
    std::string_view payload = {};
    bool equal = false;
  };
  /// What stays the same while one message is read.
  struct Context {
    const Projection::Node* keep;
    const PathFrame* path;
    int depth;
  };

  void message(const Type& type, std::span<const ProtoField> table, std::byte* out, Cursor in,
               Follower sibling, const Context& context);
  /// Reads a short text that is the sibling's next field, too: the commonest case by far. False, with
  /// nothing done, in all other cases.
  bool same_short_text(const Field& field, std::byte* out, const char* start, Cursor& in,
                       Follower& sibling);
  /// `start` is where the tag stands, `in` is behind it.
  void field(const Field& field, std::byte* out, std::uint32_t tag, const char* start, Cursor& in,
             Follower& sibling, const Context& context);
  /// Takes over the sibling's equal content, if that is better than decoding it again.
  bool share(const Type& type, Word& word, const Like& like);
  void box(const Type& element, Word& word, std::string_view payload, const Like& like,
           const Context& context);
  void list(const Type& type, Word& word, std::uint32_t tag, const char* start, Cursor& in,
            Follower& sibling, const Word* sibling_word, const Context& context);
  void wrapped_list(const Type& type, Word& word, std::string_view payload, const Context& context);
  void map(const Type& type, Word& word, std::uint32_t tag, const char* start, Cursor& in,
           Follower& sibling, const Word* sibling_word, const Context& context);
  /// False if the projection drops the entry.
  bool map_entry(const Type& value_type, std::byte* slot, std::string_view entry, View siblings,
                 std::size_t index, const Context& context);
  /// One value that is not a struct, into its final place.
  void single(const Type& type, std::byte* slot, std::uint32_t wire, Cursor& in,
              const Word* sibling, const Context& context);
  void scalar(const Type& type, std::byte* out, std::uint32_t wire, Cursor& in,
              const PathFrame* path);
  void leaf(const Type& type, std::byte* out, std::string_view payload, const Word* sibling,
            const PathFrame* path);
  Pending text(const Type& type, std::string_view bytes, const Word* sibling,
               const PathFrame* path);

  // The short forms, which nearly all tags and lengths have, are read in line.
  std::uint64_t varint(Cursor& in, const PathFrame* path) {
    const std::ptrdiff_t left = in.end - in.at;
    if (left > 0 && in.at[0] >= 0) return static_cast<unsigned char>(*in.at++);
    if (left > 1 && in.at[1] >= 0) {
      const auto number = (static_cast<unsigned char>(in.at[0]) & 0x7fU) |
                          (static_cast<unsigned>(static_cast<unsigned char>(in.at[1])) << 7);
      in.at += 2;
      return number;
    }
    return long_varint(in, path);
  }
  std::uint64_t long_varint(Cursor& in, const PathFrame* path);
  std::uint32_t read_tag(Cursor& in, const PathFrame* path) {
    const char* const at = in.at;
    const std::uint64_t tag = varint(in, path);
    if (tag - 8 > std::uint64_t{0xffffffff} - 8) fail(at, path, "malformed field tag");
    return static_cast<std::uint32_t>(tag);
  }
  std::string_view bytes(Cursor& in, const PathFrame* path) {
    const char* const at = in.at;
    const std::uint64_t size = varint(in, path);
    if (size > static_cast<std::uint64_t>(in.end - in.at)) fail_length(at, path, size);
    const std::string_view payload{in.at, static_cast<std::size_t>(size)};
    in.at += size;
    return payload;
  }
  void skip(std::uint32_t tag, Cursor& in, const Context& context);
  /// memcmp() == 0 that looks at the first bytes in line: most comparisons are short or fail at once.
  static bool same_bytes(const char* a, const char* b, std::size_t size) noexcept {
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
    if (size < 8) {
      if (size < 4) {
        return size == 0 ||
               (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
      }
      return half(a) == half(b) && half(a + size - 4) == half(b + size - 4);
    }
    if (word(a) != word(b) || word(a + size - 8) != word(b + size - 8)) return false;
    return size <= 16 || std::memcmp(a + 8, b + 8, size - 16) == 0;
  }
  /// Whether the sibling's next field is `field`, tag and all; if so, it moves behind it.
  static bool follow_equal(std::string_view field, Follower& sibling) noexcept {
    const auto left = static_cast<std::size_t>(sibling.cursor.end - sibling.cursor.at);
    if (left < field.size() || !same_bytes(sibling.cursor.at, field.data(), field.size())) {
      return false;
    }
    sibling.cursor.at += field.size();
    return true;
  }
  /// Moves the sibling to its next field of this kind, if it has one before any higher number.
  bool seek(std::uint32_t tag, Follower& sibling);
  /// Whether the sibling's run of fields is the same as `run`, which starts with a tag.
  bool follow_equal_run(std::uint32_t tag, std::string_view run, Follower& sibling);
  /// Counts the fields of one kind that follow each other, `in` being behind the tag of the first, and
  /// moves behind them.
  std::size_t run(std::uint32_t tag, Cursor& in, const Context& context);
  std::byte* grow_array(const Type& container, Word& word, std::size_t more);

  [[noreturn]] void fail_length(const char* at, const PathFrame* path, std::uint64_t size) const;
  [[noreturn]] void fail(const char* at, const PathFrame* path, std::string_view problem) const;
  void expect_wire(const Type& type, std::uint32_t wire, std::uint32_t expected, const char* at,
                   const PathFrame* path) const {
    if (wire != expected) fail_wire(type, wire, at, path);
  }
  [[noreturn]] void fail_wire(const Type& type, std::uint32_t wire, const char* at,
                              const PathFrame* path) const;

  Assembler& assembler_;
  Arena& arena_;
  const DecodeLimits& limits_;
  const char* start_ = nullptr;
  std::size_t offset_ = 0;
  bool is_regular_ = true;
};

}  // namespace kube::detail
