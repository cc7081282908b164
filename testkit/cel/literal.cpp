// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/literal.hpp"

#include "testkit/cel/time.hpp"
#include "testkit/cel/value.hpp"

#include "testkit/validation/field_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace kube::testkit::cel {

std::string double_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
  static_cast<void>(error);
  const std::string scientific{text, end};
  const std::size_t e = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(e + 1));
  if (exponent < -4 || exponent >= 6) return scientific;
  const auto [fixed_end, fixed_error] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::fixed);
  static_cast<void>(fixed_error);
  return {text, fixed_end};
}

namespace {

std::string list_literal(const ListData& list) {
  std::string shown = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) shown += ", ";
    shown += to_literal(list.at(i));
  }
  return shown + ']';
}

std::string map_literal(const MapData& map) {
  std::string shown = "{";
  for (const Val& key : keys_of(map)) {
    if (shown.size() > 1) shown += ", ";
    shown += to_literal(key) + ": ";
    const Val value = lookup(map, key);
    // Fields that are not in the schema are not shown.
    shown += value.is_error() ? "?" : to_literal(value);
  }
  return shown + '}';
}

}  // namespace

std::string to_literal(const Val& value) {
  if (value.is_error()) return value.message();
  if (value.is<bool>()) return value.get<bool>() ? "true" : "false";
  if (value.is<std::int64_t>()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is<std::uint64_t>()) return fmt::format("{}u", value.get<std::uint64_t>());
  if (value.is<double>()) {
    std::string text = double_text(value.get<double>());
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
  if (value.is<Text>()) return detail::quoted_go(value.as_text());
  if (value.is<Bytes>()) return "b" + detail::quoted_go(*value.get<Bytes>().data);
  if (value.is<Timestamp>()) {
    return fmt::format("timestamp(\"{}\")", timestamp_text(value.get<Timestamp>()));
  }
  if (value.is<Duration>()) {
    return fmt::format("duration(\"{}\")", duration_text(value.get<Duration>()));
  }
  if (value.is<ListPtr>()) return list_literal(*value.get<ListPtr>());
  if (value.is<MapPtr>()) return map_literal(*value.get<MapPtr>());
  if (value.is<TypePtr>()) return std::string{name_of(*value.get<TypePtr>())};
  if (value.is<Optional>()) {
    const auto& content = value.get<Optional>().value;
    return content ? fmt::format("optional.of({})", to_literal(*content)) : "optional.none()";
  }
  if (value.is<OpaquePtr>()) return std::string{value.get<OpaquePtr>()->type()->name};
  return "null";
}

}  // namespace kube::testkit::cel
