// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/assembler.hpp>
#include <kube/codec/options.hpp>
#include <kube/codec/path.hpp>
#include <kube/codec/projection.hpp>
#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
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
  /// What stays the same while one message is read.
  struct Context {
    const Projection::Node* keep;
    const PathFrame* path;
    int depth;
  };

  void message(const Type& type, std::span<const ProtoField> table, std::byte* out, Cursor in,
               Follower sibling, const Context& context);
  void field(const Field& field, std::byte* out, std::uint32_t tag, Cursor& in, Follower& sibling,
             const Context& context);
  void box(const Type& element, Word& word, std::string_view payload, std::string_view same,
           const Word* sibling, const Context& context);
  void list(const Type& type, Word& word, std::uint32_t tag, Cursor& in, Follower& sibling,
            const Word* sibling_word, const Context& context);
  void wrapped_list(const Type& type, Word& word, std::string_view payload,
                    const Context& context);
  void map(const Type& type, Word& word, std::uint32_t tag, Cursor& in, Follower& sibling,
           const Word* sibling_word, const Context& context);
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

  std::uint64_t varint(Cursor& in, const PathFrame* path);
  std::uint32_t read_tag(Cursor& in, const PathFrame* path);
  std::string_view bytes(Cursor& in, const PathFrame* path);
  void skip(std::uint32_t tag, Cursor& in, const Context& context);
  /// Moves the sibling behind the next tag of this kind, if it has one before any higher number.
  bool follow(std::uint32_t tag, Follower& sibling);
  /// Counts the fields of one kind that follow each other, `in` being behind the tag of the first, and
  /// moves behind them.
  std::size_t run(std::uint32_t tag, Cursor& in, const Context& context);
  std::byte* grow_array(const Type& container, Word& word, std::size_t more);

  [[noreturn]] void fail(const char* at, const PathFrame* path, std::string_view problem) const;
  void expect_wire(const Type& type, std::uint32_t wire, std::uint32_t expected, const char* at,
                   const PathFrame* path) const;

  Assembler& assembler_;
  Arena& arena_;
  const DecodeLimits& limits_;
  const char* start_ = nullptr;
  std::size_t offset_ = 0;
  bool is_regular_ = true;
};

}  // namespace kube::detail
