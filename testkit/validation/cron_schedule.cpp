// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/cron_schedule.hpp"

#include <kube/api/time_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "testkit/validation/field_error.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Bounds {
  unsigned least;
  unsigned most;
  std::span<const std::string_view> names;
  unsigned first_name;  // numeric value of names[0]
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found = split(text, ' ');
  std::erase(found, std::string_view{});
  return found;
}

std::optional<unsigned> number_of(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<unsigned> value_of(std::string_view text, const Bounds& bounds) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto name = std::ranges::find(bounds.names, std::string_view{lower});
  if (name != bounds.names.end()) {
    return bounds.first_name + static_cast<unsigned>(name - bounds.names.begin());
  }
  return number_of(text);
}

std::string not_a_number(std::string_view text) {
  return fmt::format("failed to parse int from {}: strconv.Atoi: parsing {}: invalid syntax", text,
                     quoted_go(text));
}

/// Parses one item of a list: `*`, `3`, `1-5`, each optionally with `/step`. Adds its values to
/// `bits`.
std::string read_range(std::string_view range, const Bounds& bounds, std::uint64_t& bits) {
  const auto steps = split(range, '/');
  const auto ends = split(steps[0], '-');
  if (steps.size() > 2) return fmt::format("too many slashes: {}", range);
  unsigned first = bounds.least;
  unsigned last = bounds.most;
  if (ends[0] != "*" && ends[0] != "?") {
    const auto number = value_of(ends[0], bounds);
    if (!number) return not_a_number(ends[0]);
    first = last = *number;
    if (ends.size() == 2) {
      const auto end = value_of(ends[1], bounds);
      if (!end) return not_a_number(ends[1]);
      last = *end;
    } else if (ends.size() > 2) {
      return fmt::format("too many hyphens: {}", range);
    }
  }
  unsigned step = 1;
  if (steps.size() == 2) {
    const auto number = number_of(steps[1]);
    if (!number) return not_a_number(steps[1]);
    step = *number;
    if (ends.size() == 1) last = std::max(last, bounds.most);
  }
  if (first < bounds.least) {
    return fmt::format("beginning of range ({}) below minimum ({}): {}", first, bounds.least,
                       range);
  }
  if (last > bounds.most) {
    return fmt::format("end of range ({}) above maximum ({}): {}", last, bounds.most, range);
  }
  if (first > last) {
    return fmt::format("beginning of range ({}) beyond end of range ({}): {}", first, last, range);
  }
  if (step == 0) return fmt::format("step of range should be a positive number: {}", range);
  if (steps[0] == "*" || steps[0] == "?") bits |= step == 1 ? CronSchedule::kEvery : 0;
  for (unsigned value = first; value <= last; value += step) bits |= std::uint64_t{1} << value;
  return {};
}

/// Returns the expansion of a descriptor such as `@daily`; empty if it is unknown.
std::string_view meaning_of(std::string_view descriptor) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kKnown{
      {{"@yearly", "0 0 1 1 *"},
       {"@annually", "0 0 1 1 *"},
       {"@monthly", "0 0 1 * *"},
       {"@weekly", "0 0 * * 0"},
       {"@daily", "0 0 * * *"},
       {"@midnight", "0 0 * * *"},
       {"@hourly", "0 * * * *"}}};
  const auto found =
      std::ranges::find(kKnown, descriptor, &std::pair<std::string_view, std::string_view>::first);
  return found == kKnown.end() ? std::string_view{} : found->second;
}

constexpr std::string_view kEveryPrefix = "@every ";

std::string read_interval(std::string_view text, std::chrono::seconds& every) {
  const std::string_view duration = text.substr(kEveryPrefix.size());
  const auto length = time_text::parse_duration(duration);
  if (!length) {
    return fmt::format("failed to parse duration {}: time: invalid duration {}", text,
                       quoted_go(duration));
  }
  every =
      std::max(std::chrono::seconds{1},
               std::chrono::duration_cast<std::chrono::seconds>(std::chrono::nanoseconds{*length}));
  return {};
}

std::string read_fields(std::string_view schedule, std::array<std::uint64_t, 5>& bits) {
  static const std::array<Bounds, 5> kFields{
      {{0, 59, {}, 0}, {0, 23, {}, 0}, {1, 31, {}, 0}, {1, 12, kMonths, 1}, {0, 6, kDays, 0}}};
  const auto fields = words(schedule);
  if (fields.size() != kFields.size()) {
    return fmt::format("expected exactly {} fields, found {}: [{}]", kFields.size(), fields.size(),
                       fmt::join(fields, " "));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::string_view range : split(fields[i], ',')) {
      std::string problem = read_range(range, kFields[i], bits[i]);
      if (!problem.empty()) return problem;
    }
  }
  return {};
}

}  // namespace

CronSchedule CronSchedule::parse(std::string_view text) {
  CronSchedule schedule;
  if (text.starts_with(kEveryPrefix)) {
    schedule.problem_ = read_interval(text, schedule.every_);
  } else if (text.starts_with('@')) {
    const std::string_view fields = meaning_of(text);
    schedule.problem_ = fields.empty() ? fmt::format("unrecognized descriptor: {}", text)
                                       : read_fields(fields, schedule.fields_);
  } else {
    schedule.problem_ = read_fields(text, schedule.fields_);
  }
  return schedule;
}

bool CronSchedule::has_day(std::chrono::year_month_day date, unsigned weekday) const {
  const auto has = [&](Field field, unsigned value) {
    return (fields_[field] & (std::uint64_t{1} << value)) != 0;
  };
  if (!has(kMonth, unsigned{date.month()})) return false;
  const bool day = has(kDay, unsigned{date.day()});
  const bool day_of_week = has(kWeekday, weekday);
  const bool any = ((fields_[kDay] | fields_[kWeekday]) & kEvery) != 0;
  return any ? day && day_of_week : day || day_of_week;
}

std::optional<std::chrono::sys_seconds> CronSchedule::next(
    std::chrono::sys_seconds after,
    const std::function<std::chrono::seconds(std::chrono::sys_seconds)>& offset) const {
  using std::chrono::days;
  using std::chrono::sys_days;
  if (every_.count() > 0) return after + every_;
  // Days and minutes are local time. Five years contain every possible date.
  const sys_days today = std::chrono::floor<days>(after + offset(after));
  for (sys_days day = today; day <= today + days{5 * 366}; day += days{1}) {
    if (!has_day(std::chrono::year_month_day{day}, std::chrono::weekday{day}.c_encoding())) {
      continue;
    }
    for (unsigned minute = 0; minute < 24 * 60; ++minute) {
      if ((fields_[kHour] & (std::uint64_t{1} << (minute / 60))) == 0 ||
          (fields_[kMinute] & (std::uint64_t{1} << (minute % 60))) == 0) {
        continue;
      }
      const std::chrono::sys_seconds local{day + std::chrono::minutes{minute}};
      const std::chrono::sys_seconds utc = local - offset(local - offset(local));
      if (utc > after) return utc;
    }
  }
  return std::nullopt;
}

std::string cron_schedule_problem(std::string_view schedule) {
  return CronSchedule::parse(schedule).problem();
}

bool is_known_time_zone(std::string_view name) {
  const std::filesystem::path database{"/usr/share/zoneinfo"};
  std::error_code error;
  if (!std::filesystem::is_directory(database, error)) return true;
  if (name.starts_with('/') || name.find("..") != std::string_view::npos) return false;
  return std::filesystem::is_regular_file(database / name, error);
}

}  // namespace kube::testkit::detail
