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
  /// In a field: it was written as `*`.
  static constexpr std::uint64_t kEvery = std::uint64_t{1} << 63;

  static CronSchedule parse(std::string_view text);
  /// Why the text is no schedule; empty if it is one.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// The time from one run to the next of `@every`; zero for other schedules.
  [[nodiscard]] std::chrono::seconds interval() const noexcept { return every_; }
  /// The first time after `after`; nothing if there is none within five years, such as on a 30 February. `offset` gives what
  /// the time zone adds to UTC. Only of a schedule without a problem.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> next(
      std::chrono::sys_seconds after,
      const std::function<std::chrono::seconds(std::chrono::sys_seconds)>& offset) const;

 private:
  enum Field : std::uint8_t { kMinute, kHour, kDay, kMonth, kWeekday };
  [[nodiscard]] bool has_day(std::chrono::year_month_day date, unsigned weekday) const;

  std::string problem_;
  std::chrono::seconds every_{0};  ///< not zero: a fixed interval, and there are no fields
  std::array<std::uint64_t, 5> fields_{};
};

/// The problem of the schedule of a cron job (`*/5 1-3,7 1 jan MON-FRI`, `@daily`, `@every 1h`); empty if it is valid.
[[nodiscard]] std::string cron_schedule_problem(std::string_view schedule);

/// Whether the time zone database of this machine has `name`. True for all names if there is no database.
[[nodiscard]] bool is_known_time_zone(std::string_view name);

}  // namespace kube::testkit::detail
