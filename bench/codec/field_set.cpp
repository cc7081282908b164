// SPDX-License-Identifier: Apache-2.0
#include "field_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace kube::bench {
namespace {

struct KeyedList {
  std::string_view field;
  std::array<std::string_view, 2> keys;
};

// Lists that servers merge element by element; all others are atomic.
constexpr KeyedList kKeyedLists[] = {
    {"conditions", {"type"}},
    {"containers", {"name"}},
    {"env", {"name"}},
    {"imagePullSecrets", {"name"}},
    {"ownerReferences", {"uid"}},
    {"podIPs", {"ip"}},
    {"ports", {"containerPort", "protocol"}},
    {"volumeMounts", {"mountPath"}},
    {"volumes", {"name"}},
};

// Structs and maps that are set and owned atomically.
constexpr std::string_view kAtomicStructs[] = {"fieldRef", "secretKeyRef", "configMapKeyRef",
                                               "resourceFieldRef"};

void write_fields(const Value& object, bool has_self, std::string& out);

std::string key_of(const Value& element, const KeyedList& list) {
  std::string key;
  for (const std::string_view name : list.keys) {
    if (name.empty()) continue;
    const Value& part = element[name];
    key += key.empty() ? "" : ",";
    key += part.is_string() ? fmt::format(R"(\"{}\":\"{}\")", name, part.as_string())
                            : fmt::format(R"(\"{}\":{})", name, part.as_integer());
  }
  return key;
}

bool comes_before(const Value* a, const Value* b, const KeyedList& list) {
  for (const std::string_view name : list.keys) {
    if (name.empty() || (*a)[name] == (*b)[name]) continue;
    return (*a)[name].is_string() ? (*a)[name].as_string() < (*b)[name].as_string()
                                  : (*a)[name].as_integer() < (*b)[name].as_integer();
  }
  return false;
}

void write_list(const Value& elements, const KeyedList& list, std::string& out) {
  std::vector<const Value*> sorted;
  for (const Value& element : elements.as_array()) sorted.push_back(&element);
  std::ranges::sort(sorted,
                    [&](const Value* a, const Value* b) { return comes_before(a, b, list); });
  out += R"({".":{})";
  for (const Value* element : sorted) {
    out += fmt::format(R"(,"k:{{{}}}":)", key_of(*element, list));
    // The controller sets an owner reference as one value.
    if (list.field == "ownerReferences") {
      out += "{}";
    } else {
      write_fields(*element, true, out);
    }
  }
  out += '}';
}

void write_field(std::string_view name, const Value& value, std::string& out) {
  out += fmt::format(R"("f:{}":)", name);
  if (value.is_array()) {
    const auto* list = std::ranges::find(kKeyedLists, name, &KeyedList::field);
    if (list != std::end(kKeyedLists)) {
      write_list(value, *list, out);
      return;
    }
  } else if (value.is_object() &&
             std::ranges::find(kAtomicStructs, name) == std::end(kAtomicStructs)) {
    // Optional structs and maps are members themselves, too; metadata, spec and status are not.
    const bool is_part = name == "metadata" || name == "spec" || name == "status";
    write_fields(value, !is_part, out);
    return;
  }
  out += "{}";
}

void write_fields(const Value& object, bool has_self, std::string& out) {
  out += '{';
  std::string_view separator;
  if (has_self && object.size() > 0) {
    out += R"(".":{})";
    separator = ",";
  }
  for (const auto& [name, value] : object.as_object()) {
    out += separator;
    separator = ",";
    write_field(name, value, out);
  }
  out += '}';
}

}  // namespace

std::string field_set(const Value& object) {
  std::string out;
  write_fields(object, false, out);
  return out;
}

}  // namespace kube::bench
