// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/field_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "testkit/validation/string_formats.hpp"

namespace kube::testkit::detail {

namespace {

bool is_percentage(std::string_view text) {
  static const Pattern kPercent{"^[0-9]+%$"};
  return kPercent.found_in(text);
}

bool contains_text(const Value& list, std::string_view text) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string() && list[i].as_string() == text) return true;
  }
  return false;
}

}  // namespace

bool check_required(const Field& field, std::string_view detail) {
  const bool given = field.value().is_string() ? !field.text().empty() : field.is_set();
  if (!given) field.required(detail);
  return given;
}

void check_one_of(const Field& field, std::initializer_list<std::string_view> known) {
  if (field.text().empty() || std::ranges::find(known, field.text()) != known.end()) return;
  field.unsupported(known);
}

void check_not_negative(const Field& field) {
  if (field.number().value_or(0) < 0) field.invalid("must be greater than or equal to 0");
}

void check_range(const Field& field, std::int64_t least, std::int64_t most) {
  const auto number = field.number();
  if (number && (*number < least || *number > most)) {
    field.invalid(fmt::format("must be between {} and {}, inclusive", least, most));
  }
}

void check_port(const Field& field) {
  const std::int64_t number = field.number().value_or(0);
  if (number < 1 || number > 65535) field.invalid(number, "must be between 1 and 65535, inclusive");
}

void check_port_or_name(const Field& field) {
  if (field.value().is_string()) {
    check_text(field, port_name_problems);
  } else {
    check_port(field);
  }
}

void check_text(const Field& field, Problems (*problems)(std::string_view)) {
  for (const std::string& problem : problems(field.text())) field.invalid(field.text(), problem);
}

void check_optional_text(const Field& field, Problems (*problems)(std::string_view)) {
  if (!field.text().empty()) check_text(field, problems);
}

void check_labels(const Field& labels) {
  if (!labels.value().is_object()) return;
  for (const auto& [key, value] : labels.value().as_object()) {
    for (const std::string& problem : qualified_name_problems(key)) labels.invalid(key, problem);
    const std::string_view text = value.is_string() ? value.as_string() : std::string_view{};
    for (const std::string& problem : label_value_problems(text)) labels.invalid(text, problem);
  }
}

void check_label_selector(const Field& selector) {
  check_labels(selector["matchLabels"]);
  const Field expressions = selector["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Field expression = expressions.at(i);
    const Field operation = expression["operator"];
    const Field values = expression["values"];
    if (operation.is("In") || operation.is("NotIn")) {
      if (values.size() == 0) {
        values.required("must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (operation.is("Exists") || operation.is("DoesNotExist")) {
      if (values.size() > 0) {
        values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      operation.invalid(operation.text(), "not a valid selector operator");
    }
    check_text(expression["key"], qualified_name_problems);
    for (std::size_t j = 0; j < values.size(); ++j) check_text(values.at(j), label_value_problems);
  }
}

void check_int_or_percent(const Field& field) {
  if (field.value().is_string()) {
    if (!is_percentage(field.text())) {
      field.invalid(
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
          "or '93%', regex used for validation is '[0-9]+%')");
    }
  } else {
    check_not_negative(field);
  }
}

void check_not_above_100_percent(const Field& field) {
  const std::string_view text = field.text();
  if (!is_percentage(text)) return;
  const std::string_view digits = text.substr(0, text.size() - 1);
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string_view number = digits.substr(first);
  if (number.size() > 3 || (number.size() == 3 && number > "100")) {
    field.invalid("must not be greater than 100%");
  }
}

void check_same(const Field& field, const Value& before) {
  if (!(field.value() == before)) field.invalid("field is immutable");
}

bool is_zero(const Value& value) {
  if (value.is_string()) return value.as_string().find_first_not_of("0%") == std::string_view::npos;
  return value.kind() == Value::Kind::kInteger && value.as_integer() == 0;
}

bool selects(const Value& selector, const Value& labels) {
  if (!selector.is_object()) return false;
  if (selector["matchLabels"].is_object()) {
    for (const auto& [key, value] : selector["matchLabels"].as_object()) {
      if (labels[key] != value) return false;
    }
  }
  const Value& expressions = selector["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Value& expression = expressions[i];
    const Value& label = labels[expression.get_string("key").value_or("")];
    const std::string_view operation = expression.get_string("operator").value_or("");
    const bool listed = label.is_string() && contains_text(expression["values"], label.as_string());
    if ((operation == "In" && !listed) || (operation == "NotIn" && listed) ||
        (operation == "Exists" && !label.is_string()) ||
        (operation == "DoesNotExist" && label.is_string())) {
      return false;
    }
  }
  return true;
}

bool selects_all(const Value& selector) {
  return selector["matchLabels"].size() + selector["matchExpressions"].size() == 0;
}

}  // namespace kube::testkit::detail
