// SPDX-License-Identifier: Apache-2.0
#include "table_reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace kube::bench {

bool TableReporter::ReportContext(const Context&) { return true; }

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    const std::string full_name = run.run_name.function_name;
    const std::size_t slash = full_name.find('/');
    const std::string group_name = full_name.substr(0, slash);
    const std::string name = full_name.substr(slash + 1);
    if (run.error_occurred) {
      fmt::print(stderr, "{}: {}\n", full_name, run.error_message);
      continue;
    }
    const auto pods = run.counters.find("pods");
    const double micros =
        run.cpu_accumulated_time * 1e6 /
        (pods == run.counters.end() ? static_cast<double>(run.iterations) : pods->second.value);
    const auto bytes = run.counters.find("bytes_per_second");
    const double megabytes = bytes == run.counters.end() ? 0 : bytes->second.value / 1e6;

    if (groups_.empty() || groups_.back().name != group_name) groups_.push_back({group_name, {}});
    auto& rows = groups_.back().rows;
    const auto known = std::ranges::find(rows, name, &Row::name);
    if (known == rows.end()) {
      rows.push_back({name, micros, megabytes});
      fmt::print(stderr, "{}: {:.2f} us\n", full_name, micros);
    } else if (micros < known->micros) {
      *known = {name, micros, megabytes};
    }
  }
}

void TableReporter::Finalize() {
  for (const Group& group : groups_) {
    fmt::print("\n{}\n", group.name);
    fmt::print("  {:<40} {:>9} {:>8} {:>9}\n", "", "us/pod", "MB/s", "vs first");
    for (const Row& row : group.rows) {
      const std::string speed = row.megabytes > 0 ? fmt::format("{:.0f}", row.megabytes) : "";
      fmt::print("  {:<40} {:>9.2f} {:>8} {:>9.1f}\n", row.name, row.micros, speed,
                 row.micros / group.rows.front().micros);
    }
  }
  std::fflush(stdout);
}

}  // namespace kube::bench
