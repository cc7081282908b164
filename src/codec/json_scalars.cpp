// SPDX-License-Identifier: Apache-2.0
// JsonReader: text, numbers and leaves.
#include "decimal.hpp"
#include "json_reader_parts.hpp"

#include "codec/leaf.hpp"
#include <kube/codec/base64.hpp>

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

namespace kube::detail {

Pending JsonReader::text(const Type& type, const Word* sibling, const Context& context) {
  if (!scan_.consume('"')) scan_.fail_expected(context.path, type.name);
  std::string_view raw;
  const char* const first = scan_.at();
  const bool has_escapes = scan_.string(raw, context.path);
  if (raw.size() > limits_.max_text) scan_.fail_at(first, context.path, "text is too long");
  if (type.kind == Kind::kBytes) {
    std::string plain;
    if (has_escapes) {
      plain.resize(raw.size());
      plain.resize(scan_.unescape(raw, plain.data(), context.path));
      raw = plain;
    }
    const std::size_t capacity = base64_capacity(raw);
    char* copy = arena_.allocate_text(capacity);
    const std::optional<std::size_t> size = base64_decode(raw, copy);
    if (!size) scan_.fail_at(first, context.path, "malformed base64");
    arena_.shrink_text(copy, capacity, *size);
    return assembler_.text_in_place(copy + (capacity - *size), *size, sibling);
  }
  if (!has_escapes) return assembler_.text(raw, sibling);
  char* copy = arena_.allocate_text(raw.size());
  const std::size_t size = scan_.unescape(raw, copy, context.path);
  arena_.shrink_text(copy, raw.size(), size);
  return assembler_.text_in_place(copy + (raw.size() - size), size, sibling);
}

Pending JsonReader::leaf(const Type& type, const Word* sibling, const Context& context) {
  using Token = LeafOperations::Token;
  const char* const first = scan_.at();
  LeafOperations::Input input{assembler_, sibling};
  std::string_view raw;
  std::string plain;
  Token token = Token::kOther;
  if (type.leaf->takes_any_json) {
    scan_.skip_value(context.path, context.depth);
    raw = {first, static_cast<std::size_t>(scan_.at() - first)};
  } else if (scan_.consume('"')) {
    token = Token::kText;
    if (scan_.string(raw, context.path)) {
      plain.resize(raw.size());
      plain.resize(scan_.unescape(raw, plain.data(), context.path));
      raw = plain;
    }
  } else if (scan_.peek() == '-' || (scan_.peek() >= '0' && scan_.peek() <= '9')) {
    bool is_integer = false;
    token = Token::kNumber;
    raw = scan_.number(is_integer, context.path);
  } else {
    scan_.fail_expected(context.path, type.name);
  }
  if (raw.size() > limits_.max_text) scan_.fail_at(first, context.path, "text is too long");
  const Pending content = type.leaf->from_json(input, token, raw);
  if (input.problem != nullptr) {
    constexpr std::size_t kQuoted = 60;
    scan_.fail_at(
        first, context.path,
        std::string{input.problem} + ", found \"" + std::string{raw.substr(0, kQuoted)} + '"');
  }
  return content;
}

Pending JsonReader::scalar(const Type& type, const Context& context) {
  const char* const first = scan_.at();
  if (type.kind == Kind::kBool) return Pending::raw(scan_.boolean(context.path) ? 1 : 0);
  if (scan_.peek() != '-' && (scan_.peek() < '0' || scan_.peek() > '9')) {
    scan_.fail_expected(context.path, type.name);
  }
  bool is_integer = false;
  const std::string_view digits = scan_.number(is_integer, context.path);
  if (type.kind == Kind::kDouble) {
    const std::optional<double> number = to_double(digits);
    if (!number) scan_.fail_at(first, context.path, "number out of range");
    return Pending::raw(std::bit_cast<std::uint64_t>(*number));
  }
  std::int64_t number = 0;
  if (!is_integer) scan_.fail_at(first, context.path, "expected integer, found a fraction");
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc{} ||
      (type.kind == Kind::kInt32 && (number < std::numeric_limits<std::int32_t>::min() ||
                                     number > std::numeric_limits<std::int32_t>::max()))) {
    scan_.fail_at(first, context.path,
                  "number " + std::string{digits.substr(0, 40)} + " does not fit into " +
                      (type.kind == Kind::kInt32 ? "32" : "64") + " bits");
  }
  return Pending::raw(static_cast<std::uint64_t>(number));
}

void JsonReader::optional_scalar(const Type& type, std::byte* out, const Context& context) {
  const auto set = [&]<typename T>(std::optional<T>* place) {
    if (scan_.consume_null(context.path)) {
      place->reset();
      return;
    }
    T number{};
    const Pending content = scalar(type_of<T>(), context);
    std::memcpy(&number, &content.word, sizeof(T));
    *place = number;
  };
  switch (type.kind) {
    case Kind::kOptionalBool:
      set(reinterpret_cast<std::optional<bool>*>(out));
      break;
    case Kind::kOptionalInt32:
      set(reinterpret_cast<std::optional<std::int32_t>*>(out));
      break;
    case Kind::kOptionalInt64:
      set(reinterpret_cast<std::optional<std::int64_t>*>(out));
      break;
    default:
      set(reinterpret_cast<std::optional<double>*>(out));
      break;
  }
}

Pending JsonReader::any_number(const Context& context) {
  const char* const first = scan_.at();
  bool is_integer = false;
  const std::string_view digits = scan_.number(is_integer, context.path);
  std::int64_t integer = 0;
  std::size_t kind = 0;
  std::byte* place = nullptr;
  if (is_integer &&
      std::from_chars(digits.data(), digits.data() + digits.size(), integer).ec == std::errc{}) {
    if (integer >= Word::kMinSmall && integer <= Word::kMaxSmall) {
      return {Word::of_scalar(Word::Scalar::kInteger, integer)};
    }
    place = arena_.allocate(8);
    std::memcpy(place, &integer, 8);
  } else {
    const std::optional<double> number = to_double(digits);
    if (!number) scan_.fail_at(first, context.path, "number out of range");
    kind = 1;
    place = arena_.allocate(8);
    std::memcpy(place, &*number, 8);
  }
  return Pending::relative(place, kind, Content::kNumber);
}

}  // namespace kube::detail
