// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/object_literal.hpp"

#include "testkit/cel/meter.hpp"
#include "testkit/cel/time.hpp"

#include <kube/codec/base64.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

namespace kube::testkit::cel {

namespace {

const ObjectLiteral* literal_of(const Val& value) {
  return value.is<OpaquePtr>() ? dynamic_cast<const ObjectLiteral*>(value.get<OpaquePtr>().get())
                               : nullptr;
}

Value list_document(const ListData& list) {
  if (list.array != nullptr) return *list.array;
  Value made = Value::array();
  for (const Val& element : list.elements) made.push_back(to_document(element));
  return made;
}

Value map_document(const MapData& map) {
  if (map.object != nullptr) return *map.object;
  Value made = Value::object();
  for (const auto& [name, entry] : map.entries) {
    const auto& [key, value] = entry;
    if (!key.is<Text>()) throw std::invalid_argument{"a key is not a string"};
    made[key.as_text()] = to_document(value);
  }
  return made;
}

/// `path` is the name that a literal at this place has to have.
std::string misplaced(const Val& value, const std::string& path) {
  if (value.is<ListPtr>()) {
    for (const Val& element : value.get<ListPtr>()->elements) {
      if (std::string wrong = misplaced(element, path); !wrong.empty()) return wrong;
    }
  } else if (value.is<MapPtr>()) {
    for (const auto& [name, entry] : value.get<MapPtr>()->entries) {
      if (std::string wrong = misplaced(entry.second, path); !wrong.empty()) return wrong;
    }
  }
  const ObjectLiteral* const literal = literal_of(value);
  if (literal == nullptr) return {};
  if (literal->name == "JSONPatch") {
    const auto content = literal->fields.find("value");
    return content == literal->fields.end() ? std::string{} : misplaced_type(content->second);
  }
  if (literal->name != path) {
    return fmt::format(
        "unexpected type name \"{}\", expected \"{}\", which matches field name path from root "
        "Object type",
        literal->name, path);
  }
  for (const auto& [field, content] : literal->fields) {
    if (std::string wrong = misplaced(content, path + '.' + field); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

bool ObjectLiteral::equals(const Opaque& other) const {
  const auto* const that = dynamic_cast<const ObjectLiteral*>(&other);
  if (that == nullptr || that->name != name || that->fields.size() != fields.size()) return false;
  Meter meter{UINT64_MAX};
  for (const auto& [field, value] : fields) {
    const auto found = that->fields.find(field);
    if (found == that->fields.end() || !equal(meter, value, found->second).is_true()) return false;
  }
  return true;
}

Value to_document(const Val& value) {
  if (value.is_null()) return Value{nullptr};
  if (value.is<bool>()) return Value{value.get<bool>()};
  if (value.is<std::int64_t>()) return Value{value.get<std::int64_t>()};
  if (value.is<std::uint64_t>()) {
    return Value{static_cast<std::int64_t>(value.get<std::uint64_t>())};
  }
  if (value.is<double>()) return Value{value.get<double>()};
  if (value.is<Text>()) return Value{value.as_text()};
  if (value.is<Bytes>()) return Value{base64_encode(*value.get<Bytes>().data)};
  if (value.is<Timestamp>()) return Value{timestamp_text(value.get<Timestamp>())};
  if (value.is<Duration>()) return Value{duration_text(value.get<Duration>())};
  if (value.is<ListPtr>()) return list_document(*value.get<ListPtr>());
  if (value.is<MapPtr>()) return map_document(*value.get<MapPtr>());
  const ObjectLiteral* const literal = literal_of(value);
  if (literal == nullptr) {
    throw std::invalid_argument{fmt::format("JSON has no {}", name_of(*type_of(value)))};
  }
  Value made = Value::object();
  for (const auto& [field, content] : literal->fields) made[field] = to_document(content);
  return made;
}

std::string misplaced_type(const Val& value) {
  const ObjectLiteral* const literal = literal_of(value);
  return misplaced(value, literal == nullptr ? std::string{} : literal->name);
}

}  // namespace kube::testkit::cel
