// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/metrics.hpp>

#include <memory>
#include <set>
#include <string>

#include "scheduler.hpp"

namespace kube::detail {

/// The gauge `runtime_blocked_seconds`: one series for each handler that blocks while the limit of
/// workers holds others back. Computed when metrics are read; the destructor removes all
/// series.
class BlockedGauges {
 public:
  /// Throws std::bad_alloc.
  BlockedGauges(std::shared_ptr<Metrics> metrics, std::weak_ptr<Scheduler> scheduler);
  ~BlockedGauges();
  BlockedGauges(const BlockedGauges&) = delete;
  BlockedGauges& operator=(const BlockedGauges&) = delete;

 private:
  void collect();

  const std::shared_ptr<Metrics> metrics_;
  const std::weak_ptr<Scheduler> scheduler_;
  std::set<std::string>
      shown_;  // labels that have a series; used by collect(), which runs once at a time
  MetricsCollector collector_;
};

}  // namespace kube::detail
