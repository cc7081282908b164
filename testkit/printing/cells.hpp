// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/printing/columns.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Cell functions that many kinds share.
namespace kube::testkit::detail::cells {

using Time = Clock::WallTime;
using Texts = std::vector<std::string>;

/// A path as template argument: `text<"spec.type">`.
template <std::size_t Size>
struct PathText {
  char text[Size] = {};
  consteval PathText(const char (&path)[Size]) { std::copy_n(path, Size, text); }  // NOLINT
  constexpr operator std::string_view() const { return {text, Size - 1}; }         // NOLINT
};

template <PathText Path>
Value text(const Value& object, Time) {
  return text_at(object, Path);
}
template <PathText Path>
Value number(const Value& object, Time) {
  return Value::integer(number_at(object, Path));
}
template <PathText Path>
Value boolean(const Value& object, Time) {
  return bool_at(object, Path);
}
/// Returns the text, or `Otherwise` if it is empty.
template <PathText Path, PathText Otherwise>
Value text_else(const Value& object, Time) {
  return text_or(object, Path, Otherwise);
}
/// Returns the number of elements or members.
template <PathText Path>
Value count(const Value& object, Time) {
  const Value* found = object.find(Path);
  return Value::integer(found == nullptr ? 0 : static_cast<std::int64_t>(found->size()));
}

/// Formats members as `key=value`; "<none>" if there are none.
inline std::string labels_text(const Value& object, std::string_view path) {
  const Value* labels = object.find(path);
  std::string result;
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->as_object()) {
      result += fmt::format("{}{}={}", result.empty() ? "" : ",", key.view(),
                            value.is_string() ? value.as_string() : "");
    }
  }
  return result.empty() ? "<none>" : result;
}
template <PathText Path>
Value labels_of(const Value& object, Time) {
  return labels_text(object, Path);
}

/// Formats a label selector; "<none>" if it is absent or empty.
inline std::string selector_text(const Value& selector) {
  std::multimap<std::string, std::string> requirements;  // sorted by key
  if (selector["matchLabels"].is_object()) {
    for (const auto& [key, value] : selector["matchLabels"].as_object()) {
      requirements.emplace(
          key.str(), fmt::format("{}={}", key.view(), value.is_string() ? value.as_string() : ""));
    }
  }
  for (const Value& expression : list_at(selector, "matchExpressions")) {
    const std::string key{text_member(expression, "key")};
    const std::string_view op = text_member(expression, "operator");
    const bool listed = op == "In" || op == "NotIn";
    if (!listed && op != "Exists" && op != "DoesNotExist") return "<error>";
    std::set<std::string_view> values;
    for (const Value& value : list_at(expression, "values")) {
      if (value.is_string()) values.insert(value.as_string());
    }
    requirements.emplace(key, listed ? fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin",
                                                   fmt::join(values, ","))
                                     : fmt::format("{}{}", op == "Exists" ? "" : "!", key));
  }
  std::string result;
  for (const auto& [key, text] : requirements) result += (result.empty() ? "" : ",") + text;
  return result.empty() ? "<none>" : result;
}
template <PathText Path>
Value selector_of(const Value& object, Time) {
  const Value* selector = object.find(Path);
  return selector == nullptr ? "<none>" : selector_text(*selector);
}

inline std::string joined(const List<Value>& list, std::string_view key,
                          std::string_view separator = ",") {
  std::string result;
  bool first = true;
  for (const Value& element : list) {
    if (!first) result += separator;
    first = false;
    result +=
        key.empty() ? (element.is_string() ? element.as_string() : "") : text_member(element, key);
  }
  return result;
}
template <PathText Path>
Value container_names(const Value& object, Time) {
  return joined(list_at(object, Path), "name");
}
template <PathText Path>
Value container_images(const Value& object, Time) {
  return joined(list_at(object, Path), "image");
}

/// Lists at most three items, and the number of remaining ones.
inline std::string with_more(const Texts& all, std::string_view if_empty) {
  if (all.empty()) return std::string{if_empty};
  const std::size_t shown = std::min<std::size_t>(all.size(), 3);
  std::string result = fmt::format(
      "{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), ","));
  if (all.size() > shown) result += fmt::format(" + {} more...", all.size() - shown);
  return result;
}

inline bool condition_is_true(const Value& object, std::string_view type) {
  return std::ranges::any_of(list_at(object, "status.conditions"), [&](const Value& condition) {
    return text_member(condition, "type") == type && text_member(condition, "status") == "True";
  });
}

inline bool is_default_class(const Value& object, std::string_view annotation) {
  const Value* annotations = object.find("metadata.annotations");
  return annotations != nullptr && text_member(*annotations, annotation) == "true";
}

}  // namespace kube::testkit::detail::cells
