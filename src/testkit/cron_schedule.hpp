// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// The problem of the schedule of a cron job (`*/5 1-3,7 1 jan MON-FRI`, `@daily`, `@every 1h`); empty if it is valid.
[[nodiscard]] std::string cron_schedule_problem(std::string_view schedule);

/// Whether the time zone database of this machine has `name`. True for all names if there is no database.
[[nodiscard]] bool is_known_time_zone(std::string_view name);

}  // namespace kube::testkit::detail
