// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace kube::bench {

/// Prints benchmarks called "group/name" as one table per group, with CPU time per pod: the minimum
/// of several repetitions, because noise only adds time. The first benchmark of a group is the
/// baseline.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  struct Row {
    std::string name;
    double micros = 0;
    double megabytes = 0;  ///< per second; 0 if not applicable
  };
  struct Group {
    std::string name;
    std::vector<Row> rows;
  };

  std::vector<Group> groups_;
};

}  // namespace kube::bench
