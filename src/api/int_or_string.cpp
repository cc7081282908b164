// SPDX-License-Identifier: Apache-2.0
#include <kube/api/int_or_string.hpp>

#include "codec/leaf.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/json_writer.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <charconv>
#include <stdexcept>

namespace kube {

namespace {

using detail::Pending;
using detail::Word;
using Input = LeafOperations::Input;
using Token = LeafOperations::Token;

const IntOrString& content_at(const std::byte* value) {
  return *reinterpret_cast<const IntOrString*>(value);
}

Pending number_word(std::int32_t number) {
  return {Word::of_scalar(Word::Scalar::kInteger, number)};
}

Pending from_json(Input& input, Token token, std::string_view text) {
  if (token == Token::kText) return input.assembler.text(text, input.sibling);
  std::int32_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    input.problem = "expected 32-bit integer or string";
  }
  return number_word(number);
}

Pending from_protobuf(Input& input, std::string_view message) {
  bool is_string = false;
  std::int32_t number = 0;
  std::string_view text;
  try {
    protozero::pbf_reader reader{message.data(), message.size()};
    while (reader.next()) {
      const bool is_varint = reader.wire_type() == protozero::pbf_wire_type::varint;
      if (reader.tag() == 1 && is_varint) {
        is_string = reader.get_int64() == 1;
      } else if (reader.tag() == 2 && is_varint) {
        number = reader.get_int32();
      } else if (reader.tag() == 3 &&
                 reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        const protozero::data_view view = reader.get_view();
        text = {view.data(), view.size()};
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    input.problem = "malformed integer or string";
    return {};
  }
  if (!is_string) return number_word(number);
  if (!detail::is_utf8(text)) {
    input.problem = "text is not valid UTF-8";
    return {};
  }
  return input.assembler.text(text, input.sibling);
}

void to_json(const std::byte* value, detail::JsonWriter& out) {
  const IntOrString& content = content_at(value);
  if (content.is_string()) {
    out.text(content.text());
  } else {
    out.integer(content.number());
  }
}

void to_protobuf(const std::byte* value, std::string& out) {
  const IntOrString& content = content_at(value);
  protozero::pbf_writer writer{out};
  writer.add_int64(1, content.is_string() ? 1 : 0);
  writer.add_int32(2, content.number());
  writer.add_string(3, content.text().data(), content.text().size());
}

}  // namespace

constinit const LeafOperations detail::kIntOrStringOperations{.from_json = from_json,
                                                              .from_protobuf = from_protobuf,
                                                              .to_json = to_json,
                                                              .to_protobuf = to_protobuf};

std::int32_t IntOrString::number() const noexcept {
  return content_.kind() == Value::Kind::kInteger ? static_cast<std::int32_t>(content_.as_integer())
                                                  : 0;
}

std::string_view IntOrString::text() const noexcept {
  return content_.is_string() ? content_.as_string() : std::string_view{};
}

std::string IntOrString::str() const {
  return is_string() ? std::string{text()} : std::to_string(number());
}

std::int64_t IntOrString::scaled(std::int64_t total, bool round_up) const {
  if (!is_string()) return number();
  std::int64_t percent = 0;
  const std::string_view content = text();
  const auto result = std::from_chars(content.data(), content.data() + content.size(), percent);
  if (result.ec != std::errc{} || percent > INT32_MAX || percent < INT32_MIN ||
      std::string_view{result.ptr, content.data() + content.size()} != "%") {
    throw std::invalid_argument("expected a percentage, found \"" + std::string{content} + '"');
  }
  // Splits off whole hundreds first, so that the product does not overflow.
  const std::int64_t rest = percent * (total % 100);
  std::int64_t part = percent * (total / 100) + rest / 100;
  if (round_up && rest % 100 > 0) ++part;
  if (!round_up && rest % 100 < 0) --part;
  return part;
}

}  // namespace kube
