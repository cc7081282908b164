// SPDX-License-Identifier: Apache-2.0
#include "plain_support.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string_view>

namespace kube::bench::plain {
namespace {

unsigned number_at(std::string_view text, std::size_t at, std::size_t digits) {
  unsigned number = 0;
  const char* end = text.data() + at + digits;
  const auto result = std::from_chars(text.data() + at, end, number);
  if (result.ptr != end) throw std::invalid_argument("not a time");
  return number;
}

}  // namespace

void from_json(const Json& json, Quantity& value) { json.get_to(value.text); }
void to_json(Json& json, const Quantity& value) {
  json = value.text.empty() ? std::string{"0"} : value.text;
}

void from_json(const Json& json, FieldsV1& value) { value.text = json.dump(); }
void to_json(Json& json, const FieldsV1& value) { json = Json::parse(value.text); }

std::chrono::sys_seconds parse_time(std::string_view text) {
  if (text.size() != 20) throw std::invalid_argument("not a time");
  const auto day = std::chrono::year{static_cast<int>(number_at(text, 0, 4))} /
                   std::chrono::month{number_at(text, 5, 2)} /
                   std::chrono::day{number_at(text, 8, 2)};
  return std::chrono::sys_days{day} + std::chrono::hours{number_at(text, 11, 2)} +
         std::chrono::minutes{number_at(text, 14, 2)} +
         std::chrono::seconds{number_at(text, 17, 2)};
}

void read_value(const Json& json, Time& value) {
  value = parse_time(json.get_ref<const std::string&>());
}

Json json_of(const Time& value) {
  if (!value) return nullptr;
  const auto day = std::chrono::floor<std::chrono::days>(*value);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{*value - day};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return std::string{text.data()};
}

void read_value(const Json& json, IntOrString& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
  } else {
    value = json.get<std::int32_t>();
  }
}

Json json_of(const IntOrString& value) {
  return std::visit([](const auto& content) { return Json(content); }, value);
}

}  // namespace kube::bench::plain
