// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"
#include "testkit/cel/time.hpp"

namespace kube::testkit::cel {

namespace {

/// Returns a component of a date or time of day, in the time zone given by the second argument.
template <typename Part>
Val part_of(Arguments a, Part part) {
  const std::string_view zone = a.size() > 1 ? a[1].as_text() : std::string_view{};
  const auto offset = zone_offset(zone);
  if (!offset) return Val::error("unknown time zone " + std::string{zone});
  const Timestamp& time = a[0].get<Timestamp>();
  return static_cast<std::int64_t>(part(calendar_of(time.seconds + *offset), time));
}

Val year(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.year; });
}
Val month(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.month; });
}
Val date(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.day + 1; });
}
Val day_of_month(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.day; });
}
Val day_of_week(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.day_of_week; });
}
Val day_of_year(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.day_of_year; });
}
Val hours(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.hour; });
}
Val minutes(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.minute; });
}
Val seconds(Meter&, Arguments a) {
  return part_of(a, [](const Calendar& at, const Timestamp&) { return at.second; });
}
Val milliseconds(Meter&, Arguments a) {
  return part_of(a, [](const Calendar&, const Timestamp& time) { return time.nanos / 1'000'000; });
}

template <std::int64_t Unit>
Val in_units(Meter&, Arguments a) {
  return a[0].get<Duration>().nanos / Unit;
}

}  // namespace

std::span<const Declaration> time_library() {
  static constexpr Declaration kLibrary[] = {
      {"timestamp->getFullYear(): int", year},
      {"timestamp->getFullYear(string): int", year},
      {"timestamp->getMonth(): int", month},
      {"timestamp->getMonth(string): int", month},
      {"timestamp->getDate(): int", date},
      {"timestamp->getDate(string): int", date},
      {"timestamp->getDayOfMonth(): int", day_of_month},
      {"timestamp->getDayOfMonth(string): int", day_of_month},
      {"timestamp->getDayOfWeek(): int", day_of_week},
      {"timestamp->getDayOfWeek(string): int", day_of_week},
      {"timestamp->getDayOfYear(): int", day_of_year},
      {"timestamp->getDayOfYear(string): int", day_of_year},
      {"timestamp->getHours(): int", hours},
      {"timestamp->getHours(string): int", hours},
      {"timestamp->getMinutes(): int", minutes},
      {"timestamp->getMinutes(string): int", minutes},
      {"timestamp->getSeconds(): int", seconds},
      {"timestamp->getSeconds(string): int", seconds},
      {"timestamp->getMilliseconds(): int", milliseconds},
      {"timestamp->getMilliseconds(string): int", milliseconds},
      {"duration->getHours(): int", in_units<3'600'000'000'000>},
      {"duration->getMinutes(): int", in_units<60'000'000'000>},
      {"duration->getSeconds(): int", in_units<1'000'000'000>},
      {"duration->getMilliseconds(): int", in_units<1'000'000>},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
