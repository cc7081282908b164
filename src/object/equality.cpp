// SPDX-License-Identifier: Apache-2.0
// Equality and hash of described values, which must agree.
#include <kube/object/operations.hpp>

#include <kube/object/box.hpp>
#include <kube/object/string.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

namespace kube::detail {

namespace {

template <typename T>
bool equal_scalars(const std::byte* a, const std::byte* b) noexcept {
  return *reinterpret_cast<const T*>(a) == *reinterpret_cast<const T*>(b);
}

bool equal_text(const std::byte* a, const std::byte* b) noexcept {
  const View x = word_at(a).view();
  const View y = word_at(b).view();
  return x.count == y.count && (x.count == 0 || std::memcmp(x.data, y.data, x.count) == 0);
}

bool equal_slots(const Type& element, const std::byte* a, const std::byte* b) noexcept {
  if (!element.is_boxed_in_containers()) return equal_values(element, a, b);
  const std::byte* x = boxed(word_at(a));
  const std::byte* y = boxed(word_at(b));
  return x == y || equal_values(element, x, y);
}

bool equal_elements(const Type& type, const std::byte* a, const std::byte* b) noexcept {
  const View x = word_at(a).view();
  const View y = word_at(b).view();
  if (x.count != y.count) return false;
  if (x.data == y.data) return true;
  const bool is_map = type.kind == Kind::kMap;
  const std::size_t stride = is_map ? type.element->map_stride() : type.element->list_stride();
  for (std::size_t i = 0; i < x.count; ++i) {
    const std::byte* from = x.data + i * stride;
    const std::byte* with = y.data + i * stride;
    if (is_map) {
      if (!equal_text(from, with)) return false;
      from += 8;
      with += 8;
    }
    if (!equal_slots(*type.element, from, with)) return false;
  }
  return true;
}

bool equal_any(const std::byte* a, const std::byte* b) noexcept {
  const Value& x = *reinterpret_cast<const Value*>(a);
  const Value& y = *reinterpret_cast<const Value*>(b);
  if (x.kind() != y.kind()) {
    const auto is_number = [](Value::Kind kind) {
      return kind == Value::Kind::kInteger || kind == Value::Kind::kDouble;
    };
    return is_number(x.kind()) && is_number(y.kind()) && x.as_double() == y.as_double();
  }
  switch (x.kind()) {
    case Value::Kind::kArray:
      return equal_elements(type_of<List<Value>>(), a, b);
    case Value::Kind::kObject:
      return equal_elements(type_of<Map<Value>>(), a, b);
    case Value::Kind::kString:
      return equal_text(a, b);
    case Value::Kind::kDouble:
      return x.as_double() == y.as_double();
    case Value::Kind::kInteger:
      return x.as_integer() == y.as_integer();
    case Value::Kind::kBool:
      return x.as_bool() == y.as_bool();
    default:
      return true;
  }
}

}  // namespace

bool equal_values(const Type& type, const std::byte* a, const std::byte* b) noexcept {
  switch (type.kind) {
    case Kind::kBool:
      return equal_scalars<bool>(a, b);
    case Kind::kInt32:
      return equal_scalars<std::int32_t>(a, b);
    case Kind::kInt64:
      return equal_scalars<std::int64_t>(a, b);
    case Kind::kDouble:
      return equal_scalars<double>(a, b);
    case Kind::kOptionalBool:
      return equal_scalars<std::optional<bool>>(a, b);
    case Kind::kOptionalInt32:
      return equal_scalars<std::optional<std::int32_t>>(a, b);
    case Kind::kOptionalInt64:
      return equal_scalars<std::optional<std::int64_t>>(a, b);
    case Kind::kOptionalDouble:
      return equal_scalars<std::optional<double>>(a, b);
    case Kind::kOptionalString:
      return word_at(a).is_none() == word_at(b).is_none() && equal_text(a, b);
    case Kind::kString:
    case Kind::kBytes:
      return equal_text(a, b);
    case Kind::kLeaf:
      return equal_values(*type.element, a, b);
    case Kind::kValue:
      return equal_any(a, b);
    case Kind::kStruct:
      return std::all_of(type.fields.begin(), type.fields.end(), [&](const Field& field) {
        return equal_values(*field.type, a + field.offset, b + field.offset);
      });
    case Kind::kBox: {
      const std::byte* x = boxed(word_at(a));
      const std::byte* y = boxed(word_at(b));
      if (x == y) return true;
      return x != nullptr && y != nullptr && equal_values(*type.element, x, y);
    }
    case Kind::kList:
    case Kind::kMap:
      return equal_elements(type, a, b);
  }
  return false;
}

namespace {

/// Returns the element in a slot of a list or map: the slot itself, or the content of its box.
const std::byte* slot_content(const Type& element, const std::byte* slot) noexcept {
  return element.is_boxed_in_containers() ? boxed(word_at(slot)) : slot;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

std::uint64_t hash_text(const Word& word) noexcept {
  const View text = word.view();
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(text.data), text.count});
}

std::uint64_t hash_elements(const Type& type, const Word& word) noexcept {
  const View content = word.view();
  const bool is_map = type.kind == Kind::kMap;
  const std::size_t stride = is_map ? type.element->map_stride() : type.element->list_stride();
  std::uint64_t hash = content.count;
  for (std::size_t i = 0; i < content.count; ++i) {
    const std::byte* slot = content.data + i * stride;
    if (is_map) {
      hash = mix(hash, hash_text(word_at(slot)));
      slot += 8;
    }
    hash = mix(hash, hash_value(*type.element, slot_content(*type.element, slot)));
  }
  return hash;
}

std::uint64_t hash_any(const std::byte* value) noexcept {
  const Value& any = *reinterpret_cast<const Value*>(value);
  switch (any.kind()) {
    case Value::Kind::kArray:
      return hash_elements(type_of<List<Value>>(), word_at(value));
    case Value::Kind::kObject:
      return hash_elements(type_of<Map<Value>>(), word_at(value));
    case Value::Kind::kString:
      return hash_text(word_at(value));
    case Value::Kind::kDouble:
    case Value::Kind::kInteger:
      return std::hash<double>{}(any.as_double());  // 1 and 1.0 are equal
    case Value::Kind::kBool:
      return any.as_bool() ? 3 : 2;
    case Value::Kind::kNull:
      return 1;
    case Value::Kind::kAbsent:
      break;
  }
  return 0;
}

template <typename T>
std::uint64_t hash_scalar(const std::byte* value) noexcept {
  return std::hash<T>{}(*reinterpret_cast<const T*>(value));
}

}  // namespace

std::uint64_t hash_value(const Type& type, const std::byte* value) noexcept {
  switch (type.kind) {
    case Kind::kBool:
      return hash_scalar<bool>(value);
    case Kind::kInt32:
      return hash_scalar<std::int32_t>(value);
    case Kind::kInt64:
      return hash_scalar<std::int64_t>(value);
    case Kind::kDouble:
      return hash_scalar<double>(value);
    case Kind::kOptionalBool:
      return hash_scalar<std::optional<bool>>(value);
    case Kind::kOptionalInt32:
      return hash_scalar<std::optional<std::int32_t>>(value);
    case Kind::kOptionalInt64:
      return hash_scalar<std::optional<std::int64_t>>(value);
    case Kind::kOptionalDouble:
      return hash_scalar<std::optional<double>>(value);
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      return hash_text(word_at(value));
    case Kind::kLeaf:
      return hash_value(*type.element, value);
    case Kind::kValue:
      return hash_any(value);
    case Kind::kStruct: {
      std::uint64_t hash = 7;
      for (const Field& field : type.fields) {
        hash = mix(hash, hash_value(*field.type, value + field.offset));
      }
      return hash;
    }
    case Kind::kBox: {
      const std::byte* content = boxed(word_at(value));
      return content == nullptr ? 0 : hash_value(*type.element, content);
    }
    case Kind::kList:
    case Kind::kMap:
      return hash_elements(type, word_at(value));
  }
  return 0;
}

}  // namespace kube::detail
