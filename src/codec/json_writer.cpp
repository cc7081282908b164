// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/json_writer.hpp>

#include "codec/leaf.hpp"
#include <kube/codec/base64.hpp>
#include <kube/object/box.hpp>
#include <kube/object/string.hpp>
#include <kube/object/value.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace kube::detail {

namespace {

std::string_view text_at(const std::byte* value) {
  const View view = word_at(value).view();
  return {reinterpret_cast<const char*>(view.data), view.count};
}

const std::byte* slot_content(const Type& element, const std::byte* slot) {
  return element.is_boxed_in_containers() ? boxed(word_at(slot)) : slot;
}

template <typename T>
const T& at(const std::byte* value) {
  return *reinterpret_cast<const T*>(value);
}

bool is_zero(const Type& type, const std::byte* value) {
  return std::all_of(value, value + type.size, [](std::byte byte) { return byte == std::byte{0}; });
}

/// True if Go's omitempty omits the field.
bool is_empty(const Field& field, const std::byte* value) {
  switch (field.type->kind) {
    case Kind::kBool:
      return !at<bool>(value);
    case Kind::kInt32:
      return at<std::int32_t>(value) == 0;
    case Kind::kInt64:
      return at<std::int64_t>(value) == 0;
    case Kind::kDouble:
      return at<double>(value) == 0;
    case Kind::kOptionalBool:
      return !at<std::optional<bool>>(value).has_value();
    case Kind::kOptionalInt32:
      return !at<std::optional<std::int32_t>>(value).has_value();
    case Kind::kOptionalInt64:
      return !at<std::optional<std::int64_t>>(value).has_value();
    case Kind::kOptionalDouble:
      return !at<std::optional<double>>(value).has_value();
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kList:
    case Kind::kMap:
      return word_at(value).view().count == 0;
    case Kind::kOptionalString:
    case Kind::kBox:
    case Kind::kValue:
      return word_at(value).is_none();
    case Kind::kLeaf:
      return field.is(Field::kOptional) && is_zero(*field.type, value);
    case Kind::kStruct:
      return false;
  }
  return false;
}

bool is_left_out(const Field& field, const std::byte* value) {
  return (field.is(Field::kOmitEmpty) && is_empty(field, value)) ||
         (field.is(Field::kOmitZero) && is_zero(*field.type, value));
}

/// Characters that must be escaped in a string. 0xe2 may start U+2028 or U+2029.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c < 0x20; ++c) special[c] = true;
  for (const char c : {'"', '\\', '<', '>', '&'}) special[static_cast<unsigned char>(c)] = true;
  special[0xe2] = true;
  return special;
}();

const char* find_special(const char* at, const char* end) {
#ifdef __SSE2__
  // One comparison per 16 bytes detects the special characters below '?' and all non-ASCII bytes.
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (; end - at >= 16; at += 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(chunk, _mm_set1_epi8(c)); };
    const __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_or_si128(is('"'), is('\\')), _mm_or_si128(is('<'), is('>'))),
                     _mm_or_si128(_mm_or_si128(is('&'), is(static_cast<char>(0xe2))),
                                  _mm_cmpeq_epi8(_mm_min_epu8(chunk, last_control), chunk)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#endif
  while (at < end && !kSpecial[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

}  // namespace

void JsonWriter::text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const char* at = text.data();
  const char* const end = at + text.size();
  out_ += '"';
  for (;;) {
    const char* special = find_special(at, end);
    out_.append(at, special);
    if (special == end) break;
    at = special + 1;
    switch (const char c = *special) {
      case '"':
      case '\\':
        out_ += '\\';
        out_ += c;
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      case '\b':
        out_ += "\\b";
        break;
      case '\f':
        out_ += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) == 0xe2) {
          const std::string_view three{
              special, std::min<std::size_t>(3, static_cast<std::size_t>(end - special))};
          if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
            out_ += three[2] == '\xa8' ? "\\u2028" : "\\u2029";
            at = special + 3;
          } else {
            out_ += c;
          }
        } else {
          out_ += "\\u00";
          out_ += kHex[static_cast<unsigned char>(c) >> 4];
          out_ += kHex[static_cast<unsigned char>(c) & 15];
        }
        break;
    }
  }
  out_ += '"';
}

void JsonWriter::integer(std::int64_t number) {
  std::array<char, 24> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  out_.append(buffer.data(), result.ptr);
}

void JsonWriter::number(double number) {
  if (!std::isfinite(number)) {  // not representable in JSON; Go refuses to encode it
    null();
    return;
  }
  const double size = std::abs(number);
  const bool is_large = size > 0x1p53 && size < 1e21;
  const bool is_scientific = size != 0 && (size < 1e-6 || size >= 1e21 || is_large);
  std::array<char, 400> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                    is_scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string_view digits{buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data())};
  if (is_large) {  // the significant digits, then zeros: 123456789012345680000
    const std::size_t exponent = digits.find('e');
    const std::size_t before = out_.size() + (number < 0 ? 2 : 1);
    for (const char c : digits.substr(0, exponent)) {
      if (c != '.') out_ += c;
    }
    const auto digit = [&](std::size_t i) { return static_cast<std::size_t>(digits[i] - '0'); };
    const std::size_t places = digit(exponent + 2) * 10 + digit(exponent + 3);
    out_.resize(before + places, '0');
    return;
  }
  const std::size_t small = digits.find("e-0");
  if (small != std::string_view::npos) {  // 1e-07 is written as 1e-7
    out_.append(digits.substr(0, small + 2));
    digits.remove_prefix(small + 3);
  }
  out_.append(digits);
}

void JsonWriter::value(const Type& type, const std::byte* value) {
  const auto or_null = [this](const auto& optional, auto write) {
    if (optional) {
      (this->*write)(*optional);
    } else {
      null();
    }
  };
  switch (type.kind) {
    case Kind::kBool:
      boolean(at<bool>(value));
      break;
    case Kind::kInt32:
      integer(at<std::int32_t>(value));
      break;
    case Kind::kInt64:
      integer(at<std::int64_t>(value));
      break;
    case Kind::kDouble:
      number(at<double>(value));
      break;
    case Kind::kOptionalBool:
      or_null(at<std::optional<bool>>(value), &JsonWriter::boolean);
      break;
    case Kind::kOptionalInt32:
      or_null(at<std::optional<std::int32_t>>(value), &JsonWriter::integer);
      break;
    case Kind::kOptionalInt64:
      or_null(at<std::optional<std::int64_t>>(value), &JsonWriter::integer);
      break;
    case Kind::kOptionalDouble:
      or_null(at<std::optional<double>>(value), &JsonWriter::number);
      break;
    case Kind::kString:
      text(text_at(value));
      break;
    case Kind::kOptionalString:
      if (word_at(value).is_none()) {
        null();
      } else {
        text(text_at(value));
      }
      break;
    case Kind::kBytes:
      if (word_at(value).is_none()) {
        null();
      } else {
        out_ += '"';
        base64_append(out_, text_at(value));
        out_ += '"';
      }
      break;
    case Kind::kLeaf:
      type.leaf->to_json(value, *this);
      break;
    case Kind::kValue:
      any(value);
      break;
    case Kind::kStruct:
      if (type.is(Type::kByToken)) {
        by_token(type, value);
      } else {
        object(type, value, type.is(Type::kHasTypeMeta));
      }
      break;
    case Kind::kBox:
      if (const std::byte* content = boxed(word_at(value))) {
        this->value(*type.element, content);
      } else {
        null();
      }
      break;
    case Kind::kList:
      list(type, value);
      break;
    case Kind::kMap:
      map(type, value);
      break;
  }
}

void JsonWriter::object(const Type& type, const std::byte* value, bool with_type_meta) {
  char separator = '{';
  const auto name = [&](std::string_view member) {
    out_ += separator;
    separator = ',';
    out_ += '"';
    out_.append(member);
    out_ += "\":";
  };
  if (with_type_meta) {
    name("kind");
    text(type.name);
    name("apiVersion");
    text(type.api_version);
  }
  for (const Field& field : type.fields) {
    const std::byte* member = value + field.offset;
    if (is_left_out(field, member)) continue;
    name(field.name());
    if (type.is(Type::kIsList) && field.type->kind == Kind::kList) {
      list(*field.type, member, true);
    } else {
      this->value(*field.type, member);
    }
  }
  if (separator == '{') out_ += '{';
  out_ += '}';
}

void JsonWriter::by_token(const Type& type, const std::byte* value) {
  const Field* flag = nullptr;
  const Field* chosen = nullptr;
  for (const Field& field : type.fields) {
    const std::byte* member = value + field.offset;
    if (field.type->kind == Kind::kBool) flag = &field;
    const bool is_list = field.type->kind == Kind::kList;
    if ((is_list || field.type->kind == Kind::kBox) && !is_empty(field, member) &&
        (chosen == nullptr || is_list)) {
      chosen = &field;
    }
  }
  if (chosen == nullptr) chosen = flag;
  if (chosen == nullptr) {
    null();
  } else {
    this->value(*chosen->type, value + chosen->offset);
  }
}

void JsonWriter::list(const Type& type, const std::byte* value, bool of_items) {
  if (word_at(value).is_none()) {
    null();
    return;
  }
  const View elements = word_at(value).view();
  const std::size_t stride = type.element->list_stride();
  out_ += '[';
  for (std::size_t i = 0; i < elements.count; ++i) {
    if (i > 0) out_ += ',';
    const std::byte* element = slot_content(*type.element, elements.data + i * stride);
    if (of_items) {
      item(*type.element, element);
    } else {
      this->value(*type.element, element);
    }
  }
  out_ += ']';
}

void JsonWriter::map(const Type& type, const std::byte* value) {
  if (word_at(value).is_none()) {
    null();
    return;
  }
  const View entries = word_at(value).view();
  const std::size_t stride = type.element->map_stride();
  out_ += '{';
  for (std::size_t i = 0; i < entries.count; ++i) {
    if (i > 0) out_ += ',';
    const std::byte* entry = entries.data + i * stride;
    text(text_at(entry));
    out_ += ':';
    this->value(*type.element, slot_content(*type.element, entry + 8));
  }
  out_ += '}';
}

void JsonWriter::any(const std::byte* value) {
  const auto& any = *reinterpret_cast<const Value*>(value);
  switch (any.kind()) {
    case Value::Kind::kAbsent:
    case Value::Kind::kNull:
      null();
      break;
    case Value::Kind::kBool:
      boolean(any.as_bool());
      break;
    case Value::Kind::kInteger:
      integer(any.as_integer());
      break;
    case Value::Kind::kDouble:
      number(any.as_double());
      break;
    case Value::Kind::kString:
      text(any.as_string());
      break;
    case Value::Kind::kArray:
      list(type_of<List<Value>>(), value);
      break;
    case Value::Kind::kObject:
      map(type_of<Map<Value>>(), value);
      break;
  }
}

}  // namespace kube::detail
