// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/value.hpp"

#include "testkit/cel/meter.hpp"
#include "testkit/cel/source.hpp"

#include <kube/api/time_text.hpp>
#include <kube/codec/base64.hpp>

#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kube::testkit::cel {

namespace {

using Kind = Value::Kind;

Val wrong_data(std::string_view wanted) {
  return Val::error(fmt::format("invalid data, expected {}", wanted));
}

Val list_of(const Value& value, const Type* type) {
  auto list = std::make_shared<ListData>();
  list->array = &value;
  list->type = type;
  return ListPtr{std::move(list)};
}

Val map_of(const Value& value, const Type* type) {
  auto map = std::make_shared<MapData>();
  map->object = &value;
  map->type = type;
  return MapPtr{std::move(map)};
}

/// Converts a value that has no schema.
Val untyped(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return value.as_bool();
    case Kind::kInteger:
      return value.as_integer();
    case Kind::kDouble:
      return value.as_double();
    case Kind::kString:
      return Val::view(value.as_string());
    case Kind::kArray:
      return list_of(value, nullptr);
    case Kind::kObject:
      return map_of(value, nullptr);
    default:
      return {};
  }
}

Val timestamp_of(std::string_view text) {
  // "2006-01-02" is a date; completed to a timestamp it is the beginning of that day.
  const bool is_date = text.size() == 10;
  const auto micros =
      time_text::parse_micros(is_date ? std::string{text} + "T00:00:00Z" : std::string{text});
  if (!micros) return Val::error(fmt::format("Invalid date-time formatted string {}", text));
  std::int64_t seconds = *micros / 1'000'000;
  std::int64_t rest = *micros % 1'000'000;
  if (rest < 0) {
    rest += 1'000'000;
    --seconds;
  }
  return Timestamp{seconds - time_text::kUnixEpochSeconds, static_cast<std::int32_t>(rest * 1000)};
}

Val duration_of(std::string_view text) {
  const auto nanos = time_text::parse_duration(text);
  if (!nanos) return Val::error(fmt::format("Invalid duration {}", text));
  return Duration{*nanos};
}

Val bytes_of(std::string_view text) {
  auto data = base64_decode(text);
  if (!data) return Val::error(fmt::format("Invalid byte formatted string {}", text));
  return Val::bytes(std::move(*data));
}

Val text_of(const Value& value, TypeKind kind) {
  if (!value.is_string()) return wrong_data("string");
  switch (kind) {
    case TypeKind::kTimestamp:
      return timestamp_of(value.as_string());
    case TypeKind::kDuration:
      return duration_of(value.as_string());
    case TypeKind::kBytes:
      return bytes_of(value.as_string());
    default:
      return Val::view(value.as_string());
  }
}

/// Returns the key that identifies an element of a list of type map.
std::string key_of(const Val& element, const std::vector<std::string>& keys) {
  std::string text;
  if (!element.is<MapPtr>()) return text;
  for (const std::string& key : keys) {
    const Val part = lookup(*element.get<MapPtr>(), Val::view(key));
    text += part.is_error() ? "-" : key_text(part);
    text += '\x1f';
  }
  return text;
}

Val equal_map_lists(Meter& meter, const ListData& a, const ListData& b) {
  meter.step(a.size() + b.size());
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < a.size(); ++i) places[key_of(a.at(i), a.type->list_keys)] = i;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Val element = b.at(i);
    const auto found = places.find(key_of(element, a.type->list_keys));
    if (found == places.end()) return false;
    Val same = equal(meter, a.at(found->second), element);
    if (!same.is_true()) return same;
  }
  return true;
}

Val equal_sets(Meter& meter, const ListData& a, const ListData& b) {
  meter.step(a.size() + b.size());
  std::map<std::string, bool> present;
  for (std::size_t i = 0; i < a.size(); ++i) present[to_literal(a.at(i))] = true;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!present.contains(to_literal(b.at(i)))) return false;
  }
  return true;
}

Val equal_lists(Meter& meter, const ListData& a, const ListData& b) {
  if (a.size() != b.size()) return false;
  if (a.type != nullptr && a.type->list_kind == ListKind::kMap) return equal_map_lists(meter, a, b);
  if (a.type != nullptr && a.type->list_kind == ListKind::kSet) return equal_sets(meter, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    Val same = equal(meter, a.at(i), b.at(i));
    if (!same.is_true()) return same;
  }
  return true;
}

Val equal_maps(Meter& meter, const MapData& a, const MapData& b) {
  if (a.size() != b.size()) return false;
  for (const Val& key : keys_of(a)) {
    // Properties that are not in the schema are compared as raw documents.
    if (a.object != nullptr && find_property(a, key.as_text()) == nullptr) {
      const Value* other = b.object == nullptr ? nullptr : detail::member(*b.object, key.as_text());
      if (other == nullptr || !(*other == *detail::member(*a.object, key.as_text()))) return false;
      continue;
    }
    if (!has_key(b, key)) return false;
    Val same = equal(meter, lookup(a, key), lookup(b, key));
    if (!same.is_true()) return same;
  }
  return true;
}

/// Returns -1, 0, 1, or 2 if the two are unordered.
int order(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

/// Compares as doubles, like the real server, unless the double is out of the range of integers.
int order_integer_and_double(std::int64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b < -9223372036854775808.0) return 1;
  if (b > 9223372036854775807.0) return -1;
  return order(static_cast<double>(a), b);
}

int order_unsigned_and_double(std::uint64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b < 0) return 1;
  if (b > 18446744073709551615.0) return -1;
  return order(static_cast<double>(a), b);
}

int order_numbers(const Val& a, const Val& b) {
  const auto flip = [](int found) { return found == 2 ? 2 : -found; };
  if (a.is<double>()) {
    if (b.is<double>()) return order(a.get<double>(), b.get<double>());
    return flip(order_numbers(b, a));
  }
  if (a.is<std::int64_t>()) {
    const std::int64_t left = a.get<std::int64_t>();
    if (b.is<double>()) return order_integer_and_double(left, b.get<double>());
    if (b.is<std::uint64_t>()) {
      const std::uint64_t right = b.get<std::uint64_t>();
      if (left < 0 || static_cast<std::uint64_t>(left) < right) return -1;
      return static_cast<std::uint64_t>(left) == right ? 0 : 1;
    }
    const std::int64_t right = b.get<std::int64_t>();
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const std::uint64_t left = a.get<std::uint64_t>();
  if (b.is<double>()) return order_unsigned_and_double(left, b.get<double>());
  if (b.is<std::int64_t>()) return flip(order_numbers(b, a));
  const std::uint64_t right = b.get<std::uint64_t>();
  return left < right ? -1 : left > right ? 1 : 0;
}

template <typename T>
Val order_values(const T& a, const T& b) {
  return std::int64_t{a < b ? -1 : b < a ? 1 : 0};
}

/// Returns the type of a property, or null for a name that an expression cannot spell: expressions
/// do not see such a property.
const Type* property_type(const Type* type, std::string_view property, bool& known) {
  known = true;
  if (type == nullptr) return nullptr;
  if (type->kind == TypeKind::kMap) return type->parameters[1].get();
  auto field = type->fields.find(escape_property(property));
  // The types of requests have fields such as `namespace`, which a schema would escape.
  if (field == type->fields.end()) field = type->fields.find(property);
  known = field != type->fields.end();
  return known ? field->second.type.get() : nullptr;
}

}  // namespace

std::size_t ListData::size() const { return array != nullptr ? array->size() : elements.size(); }

Val ListData::at(std::size_t index) const {
  if (array == nullptr) return elements[index];
  return from_document((*array)[index], type == nullptr ? nullptr : type->parameters[0].get());
}

std::size_t MapData::size() const { return object != nullptr ? object->size() : entries.size(); }

Val Val::text(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::string_view view = *owner;
  return Text{std::move(owner), view};
}

Val Val::view(std::string_view text) { return Text{nullptr, text}; }

Val Val::bytes(std::string data) {
  return Bytes{std::make_shared<const std::string>(std::move(data))};
}

Val Val::list(std::vector<Val> elements) {
  auto list = std::make_shared<ListData>();
  list->elements = std::move(elements);
  return ListPtr{std::move(list)};
}

Val Val::error(std::string message) { return Error{std::move(message)}; }

Val Val::some(Val value) { return Optional{std::make_shared<const Val>(std::move(value))}; }

Val from_document(const Value& value, const Type* type) {
  if (type == nullptr || value.is_null() || value.is_absent()) return untyped(value);
  switch (type->kind) {
    case TypeKind::kObject:
    case TypeKind::kMap:
      return value.is_object() ? map_of(value, type) : wrong_data("a map");
    case TypeKind::kList:
      return value.is_array() ? list_of(value, type) : wrong_data("an array");
    case TypeKind::kString:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
    case TypeKind::kBytes:
      return text_of(value, type->kind);
    case TypeKind::kDouble:
      return value.kind() == Kind::kInteger || value.kind() == Kind::kDouble
                 ? Val{value.as_double()}
                 : wrong_data("float");
    case TypeKind::kInt:
      // Integers may be written as doubles in a document.
      if (value.kind() == Kind::kDouble && std::abs(value.as_double()) < 9.2e18) {
        return static_cast<std::int64_t>(value.as_double());
      }
      return value.kind() == Kind::kInteger ? Val{value.as_integer()} : wrong_data("int");
    case TypeKind::kBool:
      return value.kind() == Kind::kBool ? Val{value.as_bool()} : wrong_data("bool");
    default:
      return untyped(value);
  }
}

TypePtr type_of(const Val& value) {
  const auto simple = [](TypeKind kind) { return simple_type(kind); };
  if (value.is<bool>()) return simple(TypeKind::kBool);
  if (value.is<std::int64_t>()) return simple(TypeKind::kInt);
  if (value.is<std::uint64_t>()) return simple(TypeKind::kUint);
  if (value.is<double>()) return simple(TypeKind::kDouble);
  if (value.is<Text>()) return simple(TypeKind::kString);
  if (value.is<Bytes>()) return simple(TypeKind::kBytes);
  if (value.is<Timestamp>()) return simple(TypeKind::kTimestamp);
  if (value.is<Duration>()) return simple(TypeKind::kDuration);
  if (value.is<ListPtr>()) return simple(TypeKind::kList);
  if (value.is<MapPtr>()) return simple(TypeKind::kMap);
  if (value.is<TypePtr>()) return simple(TypeKind::kType);
  if (value.is<Optional>()) return simple(TypeKind::kOptional);
  if (value.is<OpaquePtr>()) return value.get<OpaquePtr>()->type();
  return simple(TypeKind::kNull);
}

Val equal(Meter& meter, const Val& a, const Val& b) {
  meter.step();
  if (a.is_error()) return a;
  if (b.is_error()) return b;
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.is<ListPtr>() && b.is<ListPtr>())
    return equal_lists(meter, *a.get<ListPtr>(), *b.get<ListPtr>());
  if (a.is<MapPtr>() && b.is<MapPtr>())
    return equal_maps(meter, *a.get<MapPtr>(), *b.get<MapPtr>());
  if (a.is<bool>() && b.is<bool>()) return a.get<bool>() == b.get<bool>();
  if (a.is<Text>() && b.is<Text>()) return a.as_text() == b.as_text();
  if (a.is<Bytes>() && b.is<Bytes>()) return *a.get<Bytes>().data == *b.get<Bytes>().data;
  if (a.is<Timestamp>() && b.is<Timestamp>()) return a.get<Timestamp>() == b.get<Timestamp>();
  if (a.is<Duration>() && b.is<Duration>()) return a.get<Duration>() == b.get<Duration>();
  if (a.is<TypePtr>() && b.is<TypePtr>()) {
    return name_of(*a.get<TypePtr>()) == name_of(*b.get<TypePtr>());
  }
  if (a.is<Optional>() && b.is<Optional>()) {
    const auto& left = a.get<Optional>().value;
    const auto& right = b.get<Optional>().value;
    if (left == nullptr || right == nullptr) return left == right;
    return equal(meter, *left, *right);
  }
  if (a.is<OpaquePtr>() && b.is<OpaquePtr>()) {
    const Opaque& left = *a.get<OpaquePtr>();
    const Opaque& right = *b.get<OpaquePtr>();
    return left.type()->name == right.type()->name && left.equals(right);
  }
  return false;
}

Val compare(const Val& a, const Val& b) {
  if (a.is_number() && b.is_number()) {
    const int found = order_numbers(a, b);
    if (found == 2) return Val::error("NaN values cannot be ordered");
    return std::int64_t{found};
  }
  if (a.is<Text>() && b.is<Text>()) return order_values(a.as_text(), b.as_text());
  if (a.is<bool>() && b.is<bool>()) return order_values(a.get<bool>(), b.get<bool>());
  if (a.is<Bytes>() && b.is<Bytes>()) {
    return order_values(*a.get<Bytes>().data, *b.get<Bytes>().data);
  }
  if (a.is<Timestamp>() && b.is<Timestamp>()) {
    return order_values(a.get<Timestamp>(), b.get<Timestamp>());
  }
  if (a.is<Duration>() && b.is<Duration>()) {
    return order_values(a.get<Duration>(), b.get<Duration>());
  }
  return Val::error("no such overload");
}

Val contains(Meter& meter, const ListData& list, const Val& wanted) {
  Val error = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Val same = equal(meter, list.at(i), wanted);
    if (same.is_true()) return same;
    if (same.is_error()) error = same;
  }
  return error;
}

Val add_lists(Meter& meter, const Val& a, const Val& b) {
  const ListData& left = *a.get<ListPtr>();
  const ListData& right = *b.get<ListPtr>();
  const ListKind kind = left.type == nullptr ? ListKind::kAtomic : left.type->list_kind;
  meter.step(left.size() + right.size());
  auto sum = std::make_shared<ListData>();
  sum->type = left.type;
  std::map<std::string, std::size_t> places;
  const auto name = [&](const Val& element) {
    return kind == ListKind::kMap ? key_of(element, left.type->list_keys) : to_literal(element);
  };
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum->elements.push_back(left.at(i));
    if (kind != ListKind::kAtomic) places.emplace(name(sum->elements.back()), i);
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    Val element = right.at(i);
    if (kind != ListKind::kAtomic) {
      const auto [found, is_new] = places.emplace(name(element), sum->elements.size());
      if (!is_new) {
        if (kind == ListKind::kMap) sum->elements[found->second] = std::move(element);
        continue;
      }
    }
    sum->elements.push_back(std::move(element));
  }
  return ListPtr{std::move(sum)};
}

std::string key_text(const Val& key) {
  if (key.is<Text>()) return "s" + std::string{key.as_text()};
  if (key.is<bool>()) return key.get<bool>() ? "b1" : "b0";
  if (key.is<std::int64_t>()) return fmt::format("i{}", key.get<std::int64_t>());
  if (key.is<std::uint64_t>()) return fmt::format("i{}", key.get<std::uint64_t>());
  if (key.is<double>()) {
    const double number = key.get<double>();
    if (number == std::floor(number) && std::abs(number) < 9.2e18) {
      return fmt::format("i{}", static_cast<std::int64_t>(number));
    }
    return fmt::format("d{}", number);
  }
  return {};
}

const Value* find_property(const MapData& map, std::string_view key) {
  bool known = true;
  static_cast<void>(property_type(map.type, key, known));
  return known && map.object != nullptr ? detail::member(*map.object, key) : nullptr;
}

bool has_key(const MapData& map, const Val& key) {
  if (map.object == nullptr) return map.entries.contains(key_text(key));
  return key.is<Text>() && find_property(map, key.as_text()) != nullptr;
}

Val lookup(const MapData& map, const Val& key) {
  if (map.object == nullptr) {
    const auto found = map.entries.find(key_text(key));
    if (found != map.entries.end()) return found->second.second;
  } else if (key.is<Text>()) {
    bool known = true;
    const Type* type = property_type(map.type, key.as_text(), known);
    const Value* found = known ? detail::member(*map.object, key.as_text()) : nullptr;
    if (found != nullptr) return from_document(*found, type);
  }
  return Val::error("no such key: " +
                    (key.is<Text>() ? std::string{key.as_text()} : to_literal(key)));
}

std::vector<Val> keys_of(const MapData& map) {
  std::vector<Val> keys;
  if (map.object == nullptr) {
    for (const auto& [text, entry] : map.entries) keys.push_back(entry.first);
  } else {
    for (const auto& [name, value] : map.object->as_object())
      keys.push_back(Val::view(name.view()));
  }
  return keys;
}

std::size_t size_of(const Val& value) {
  if (value.is<Text>()) return code_points(value.as_text());
  if (value.is<Bytes>()) return value.get<Bytes>().data->size();
  if (value.is<ListPtr>()) return value.get<ListPtr>()->size();
  if (value.is<MapPtr>()) return value.get<MapPtr>()->size();
  if (value.is<Optional>() && value.get<Optional>().value)
    return size_of(*value.get<Optional>().value);
  return 1;
}

}  // namespace kube::testkit::cel
