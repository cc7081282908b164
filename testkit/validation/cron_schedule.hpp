// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// The schedule of a cron job (`*/5 1-3,7 1 jan MON-FRI`, `@daily`, `@every 1h`).
class CronSchedule {
 public:
  /// Bit in a field that was written as `*`.
  static constexpr std::uint64_t kEvery = std::uint64_t{1} << 63;

  static CronSchedule parse(std::string_view text);
  /// The reason why the text is not a valid schedule; empty if it is valid.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// The interval of `@every`; zero for other schedules.
  [[nodiscard]] std::chrono::seconds interval() const noexcept { return every_; }
  /// Returns the first scheduled time after `after`; nothing if there is none within five years,
  /// such as on a 30 February. `offset` returns the UTC offset of the time zone. Requires problem()
  /// to be empty.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> next(
      std::chrono::sys_seconds after,
      const std::function<std::chrono::seconds(std::chrono::sys_seconds)>& offset) const;

 private:
  enum Field : std::uint8_t { kMinute, kHour, kDay, kMonth, kWeekday };
  [[nodiscard]] bool has_day(std::chrono::year_month_day date, unsigned weekday) const;

  std::string problem_;
  std::chrono::seconds every_{0};  ///< if not zero: a fixed interval, without fields
  std::array<std::uint64_t, 5> fields_{};
};

/// Returns the reason why a cron schedule (`*/5 1-3,7 1 jan MON-FRI`, `@daily`, `@every 1h`) is
/// invalid; empty if it is valid.
[[nodiscard]] std::string cron_schedule_problem(std::string_view schedule);

/// Returns whether the system's time zone database has `name`. Returns true for all names if there
/// is no database.
[[nodiscard]] bool is_known_time_zone(std::string_view name);

}  // namespace kube::testkit::detail
