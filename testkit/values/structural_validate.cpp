// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/structural_validate.hpp"

#include "testkit/validation/string_formats.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_map>

namespace kube::testkit::detail {

namespace {

using Errors = std::vector<FieldError>;
using ValueKind = Value::Kind;

std::optional<double> number_of(const Value& schema, std::string_view key) {
  const Value* value = member(schema, key);
  if (value == nullptr ||
      (value->kind() != ValueKind::kInteger && value->kind() != ValueKind::kDouble)) {
    return std::nullopt;
  }
  return value->as_double();
}

std::optional<std::size_t> size_of(const Value& schema, std::string_view key) {
  const auto number = number_of(schema, key);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Returns the schema type of a value; whole numbers written as doubles count as integers.
std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kBool:
      return "boolean";
    case ValueKind::kInteger:
      return "integer";
    case ValueKind::kDouble:
      return "number";
    case ValueKind::kString:
      return "string";
    case ValueKind::kArray:
      return "array";
    case ValueKind::kObject:
      return "object";
    default:
      return "null";
  }
}

/// Creates an error that the real server reports without a field.
FieldError without_field(std::string_view text) { return invalid_value("<nil>", "", text); }

class Validator {
 public:
  Validator(const Value& schema, const std::string& path, Errors& errors)
      : schema_(schema), path_(path), errors_(errors) {}

  void run(const Value& value, const Value* old) {
    type(value);
    if (!value.is_null()) {
      junctors(value);
      switch (value.kind()) {
        case ValueKind::kString:
          text(value);
          break;
        case ValueKind::kInteger:
        case ValueKind::kDouble:
          number(value);
          break;
        case ValueKind::kArray:
          array(value, old);
          break;
        default:
          break;
      }
    }
    enumeration(value);
    if (value.is_object()) object(value, old);
  }

 private:
  template <typename... Args>
  std::string says(fmt::format_string<Args...> what, Args&&... args) const {
    return fmt::format("{} in body {}", path_, fmt::format(what, std::forward<Args>(args)...));
  }

  void wrong_type(std::string_view wanted, std::string_view found) {
    errors_.push_back(
        type_invalid(path_, found, says("must be of type {}: {}", wanted, quoted_go(found))));
  }

  void type(const Value& value) {
    const bool either = is_true_member(schema_, "x-kubernetes-int-or-string");
    const std::string_view wanted = either ? "integer,string" : text_member(schema_, "type");
    if (wanted.empty()) return;
    const std::string_view found = type_name(value);
    if (value.is_null()) {
      if (!is_true_member(schema_, "nullable")) wrong_type(wanted, "null");
      return;
    }
    const bool whole =
        value.kind() == ValueKind::kDouble && value.as_double() == std::floor(value.as_double());
    const bool fits = either ? found == "integer" || found == "string" || whole
                             : found == wanted || (wanted == "integer" && whole) ||
                                   (wanted == "number" && found == "integer");
    if (fits) return;
    // If a format is given and the value is neither a string nor a list, the error is about the
    // format.
    const std::string_view format = effective_format();
    const bool by_format = !format.empty() && !value.is_string() && !value.is_array();
    const std::string_view found_format = found == "integer"  ? "int64"
                                          : found == "number" ? "float64"
                                                              : std::string_view{};
    wrong_type(by_format ? format : wanted, by_format ? found_format : found);
  }

  /// Returns the format, or an empty string if the server does not know it.
  std::string_view effective_format() const {
    const std::string_view format = text_member(schema_, "format");
    const std::string_view type = text_member(schema_, "type");
    if (type == "integer") return format == "int32" || format == "int64" ? format : "";
    if (type == "number") return format == "float" || format == "double" ? format : "";
    if (type.empty() || type == "string") return is_known_format(format) ? format : "";
    return "";
  }

  void text(const Value& value) {
    const std::string_view content = value.as_string();
    if (const auto limit = size_of(schema_, "maxLength"); limit && characters(content) > *limit) {
      errors_.push_back(too_long(path_, *limit));
    }
    if (const auto limit = size_of(schema_, "minLength"); limit && characters(content) < *limit) {
      errors_.push_back(
          invalid_value(path_, value, says("should be at least {} chars long", *limit)));
    }
    const std::string_view pattern = text_member(schema_, "pattern");
    if (!pattern.empty() && !pattern_found(pattern, content)) {
      errors_.push_back(invalid_value(path_, value, says("should match '{}'", pattern)));
    }
    const std::string_view format = effective_format();
    if (!format.empty() && !has_format(format, content)) wrong_format(format, value);
  }

  static bool pattern_found(std::string_view pattern, std::string_view text) {
    try {
      return Pattern{pattern}.found_in(text);
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  void wrong_format(std::string_view format, const Value& value) {
    errors_.push_back(type_invalid(
        path_, value, says("must be of type {}: {}", format, quoted_go(value.as_string()))));
  }

  void number(const Value& value) {
    const double found = value.as_double();
    const bool whole = value.kind() == ValueKind::kInteger;
    const auto shown = [&](double limit) {
      return whole ? fmt::format("{}", static_cast<std::int64_t>(limit))
                   : encode_json(Value{limit});
    };
    if (const auto factor = number_of(schema_, "multipleOf")) {
      const double quotient = *factor < 1 ? 1 / *factor * found : found / *factor;
      if (*factor <= 0 || std::abs(quotient - std::round(quotient)) > 1e-9 * std::abs(quotient)) {
        errors_.push_back(
            invalid_value(path_, value, says("should be a multiple of {}", shown(*factor))));
      }
    }
    if (const auto limit = number_of(schema_, "maximum")) {
      const bool exclusive = is_true_member(schema_, "exclusiveMaximum");
      if (exclusive ? found >= *limit : found > *limit) {
        errors_.push_back(invalid_value(
            path_, value,
            says("should be less than {}{}", exclusive ? "" : "or equal to ", shown(*limit))));
      }
    }
    if (const auto limit = number_of(schema_, "minimum")) {
      const bool exclusive = is_true_member(schema_, "exclusiveMinimum");
      if (exclusive ? found <= *limit : found < *limit) {
        errors_.push_back(invalid_value(
            path_, value,
            says("should be greater than {}{}", exclusive ? "" : "or equal to ", shown(*limit))));
      }
    }
    if (effective_format() == "int32" && (found > INT32_MAX || found < INT32_MIN)) {
      errors_.push_back(without_field(
          fmt::format("Checked value must be of type integer with format int32 in {}", path_)));
    }
  }

  void enumeration(const Value& value) {
    const auto& allowed = schema_.get_array("enum");
    if (allowed.empty()) return;
    std::vector<std::string> texts;
    for (const Value& one : allowed) {
      if (one == value) return;
      texts.push_back(one.is_string() ? std::string{one.as_string()} : encode_json(one));
    }
    if (value.is_null() && is_true_member(schema_, "nullable") &&
        text_member(schema_, "type").empty())
      return;
    errors_.push_back(not_supported(path_, value, texts));
  }

  void array(const Value& value, const Value* old) {
    const Value& items = schema_["items"];
    if (items.is_object()) {
      const auto before = old_elements(old);
      std::size_t i = 0;
      for (const Value& element : value.as_array()) {
        const auto found = before.empty() ? before.end() : before.find(key_of(element));
        validate_value(items, element, found == before.end() ? nullptr : found->second,
                       fmt::format("{}[{}]", path_, i++), errors_);
      }
    }
    if (const auto limit = size_of(schema_, "minItems"); limit && value.size() < *limit) {
      errors_.push_back(
          invalid_value(path_, value.size(), says("should have at least {} items", *limit)));
    }
    if (const auto limit = size_of(schema_, "maxItems"); limit && value.size() > *limit) {
      errors_.push_back(too_many(path_, value.size(), *limit));
    }
    if (is_true_member(schema_, "uniqueItems")) unique(value);
  }

  void unique(const Value& value) {
    std::map<std::string, int> seen;
    for (const Value& element : value.as_array()) {
      if (seen[encode_json(element)]++ == 0) continue;
      errors_.push_back(invalid_value(path_, "", says("shouldn't contain duplicates")));
      return;
    }
  }

  /// Returns the key that identifies an element of a list of type map.
  std::string key_of(const Value& element) const {
    Value key = Value::object();
    for (const Value& name : schema_.get_array("x-kubernetes-list-map-keys")) {
      if (const Value* part = member(element, name.as_string())) key[name.as_string()] = *part;
    }
    return encode_json(key);
  }

  /// Returns the stored elements that can be correlated, by key: those of lists of type map.
  std::unordered_map<std::string, const Value*> old_elements(const Value* old) const {
    std::unordered_map<std::string, const Value*> found;
    if (old == nullptr || !old->is_array() ||
        text_member(schema_, "x-kubernetes-list-type") != "map") {
      return found;
    }
    for (const Value& element : old->as_array()) found.emplace(key_of(element), &element);
    return found;
  }

  void object(const Value& value, const Value* old) {
    if (const auto limit = size_of(schema_, "minProperties"); limit && value.size() < *limit) {
      errors_.push_back(
          invalid_value(path_, value.size(), says("should have at least {} properties", *limit)));
    }
    if (const auto limit = size_of(schema_, "maxProperties"); limit && value.size() > *limit) {
      errors_.push_back(too_many(path_, value.size(), *limit));
    }
    const Value& properties = schema_["properties"];
    const Value& additional = schema_["additionalProperties"];
    const bool closed = additional.kind() == ValueKind::kBool && !additional.as_bool();
    for (const auto& [name, element] : value.as_object()) {
      const Value* known = member(properties, name.view());
      if (known == nullptr && additional.is_object()) known = &additional;
      if (known != nullptr) {
        validate_value(*known, element, old == nullptr ? nullptr : member(*old, name.view()),
                       below(path_, name.view()), errors_);
      } else if (closed) {
        errors_.push_back(invalid_value(
            path_, name.view(),
            fmt::format("{}.{} in body is a forbidden property", path_, name.view())));
      }
    }
    for (const Value& name : schema_.get_array("required")) {
      if (member(value, name.as_string()) == nullptr) {
        errors_.push_back(required_value(below(path_, name.as_string())));
      }
    }
    if (is_true_member(schema_, "x-kubernetes-embedded-resource")) {
      for (const char* name : {"apiVersion", "kind"}) {
        if (text_member(value, name).empty()) {
          errors_.push_back(required_value(below(path_, name), "must not be empty"));
        }
      }
    }
  }

  void junctors(const Value& value) {
    const auto check = [&](const Value& part) {
      Errors found;
      validate_value(part, value, nullptr, path_, found);
      return found;
    };
    if (const auto& any_of = schema_.get_array("anyOf");
        !any_of.empty() && !is_int_or_string(any_of)) {
      const auto [valid, best] = try_all(any_of, check);
      if (valid == 0) {
        errors_.push_back(without_field(
            fmt::format("{} must validate at least one schema (anyOf)", quoted_go(path_))));
        errors_.insert(errors_.end(), best.begin(), best.end());
      }
    }
    if (const auto& one_of = schema_.get_array("oneOf"); !one_of.empty()) {
      const auto [valid, best] = try_all(one_of, check);
      if (valid != 1) {
        errors_.push_back(without_field(fmt::format(
            "{} must validate one and only one schema (oneOf). {}", quoted_go(path_),
            valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid))));
        if (valid == 0) errors_.insert(errors_.end(), best.begin(), best.end());
      }
    }
    if (const auto& all_of = schema_.get_array("allOf"); !all_of.empty()) {
      std::size_t valid = 0;
      for (const Value& part : all_of) {
        Errors found = check(part);
        valid += found.empty() ? 1 : 0;
        errors_.insert(errors_.end(), found.begin(), found.end());
      }
      if (valid != all_of.size()) {
        errors_.push_back(
            without_field(fmt::format("{} must validate all the schemas (allOf){}",
                                      quoted_go(path_), valid == 0 ? ". None validated" : "")));
      }
    }
    if (schema_["not"].is_object() && check(schema_["not"]).empty()) {
      errors_.push_back(
          without_field(fmt::format("{} must not validate the schema (not)", quoted_go(path_))));
    }
  }

  /// Counts the alternatives that hold, and keeps the errors of the closest one.
  template <typename Check>
  static std::pair<std::size_t, Errors> try_all(const List<Value>& parts, Check check) {
    std::size_t valid = 0;
    Errors best;
    for (const Value& part : parts) {
      Errors found = check(part);
      if (found.empty()) ++valid;
      if (best.empty() || found.size() < best.size()) best = std::move(found);
    }
    return {valid, std::move(best)};
  }

  bool is_int_or_string(const List<Value>& any_of) const {
    return is_true_member(schema_, "x-kubernetes-int-or-string") && any_of.size() == 2 &&
           text_member(any_of[0], "type") == "integer" &&
           text_member(any_of[1], "type") == "string";
  }

  const Value& schema_;
  const std::string& path_;
  Errors& errors_;
};

}  // namespace

void validate_value(const Value& schema, const Value& value, const Value* old,
                    const std::string& path, std::vector<FieldError>& errors) {
  if (!schema.is_object() || (old != nullptr && *old == value)) return;
  Validator{schema, path, errors}.run(value, old);
}

void validate_list_types(const Value& schema, const Value& value, const std::string& path,
                         std::vector<FieldError>& errors) {
  if (value.is_object()) {
    for (const auto& [name, element] : value.as_object()) {
      if (const Value* property = member(schema["properties"], name.view())) {
        validate_list_types(*property, element, below(path, name.view()), errors);
      } else if (schema["additionalProperties"].is_object()) {
        validate_list_types(schema["additionalProperties"], element,
                            fmt::format("{}[{}]", path, name.view()), errors);
      }
    }
    return;
  }
  if (!value.is_array()) return;
  const std::string_view type = text_member(schema, "x-kubernetes-list-type");
  const bool is_map = type == "map";
  std::map<std::string, int> seen;
  std::size_t i = 0;
  for (const Value& element : value.as_array()) {
    const std::string here = fmt::format("{}[{}]", path, i++);
    if (is_map && !element.is_object() && !element.is_null()) {
      errors.push_back(
          invalid_value(here, element, "must be an object for an array of list-type map"));
    } else if (is_map || type == "set") {
      Value key = element;
      if (is_map) {
        key = Value::object();
        for (const Value& name : schema.get_array("x-kubernetes-list-map-keys")) {
          if (const Value* part = member(element, name.as_string())) key[name.as_string()] = *part;
        }
      }
      if (seen[encode_json(key)]++ == 1) errors.push_back(duplicate_value(here, key));
    }
    if (schema["items"].is_object()) validate_list_types(schema["items"], element, here, errors);
  }
}

}  // namespace kube::testkit::detail
