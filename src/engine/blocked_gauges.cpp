// SPDX-License-Identifier: Apache-2.0
#include "blocked_gauges.hpp"

#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::string_view kName = "runtime_blocked_seconds";

}  // namespace

BlockedGauges::BlockedGauges(std::shared_ptr<Metrics> metrics, std::weak_ptr<Scheduler> scheduler)
    : metrics_(std::move(metrics)),
      scheduler_(std::move(scheduler)),
      collector_(metrics_->on_collect([this] { collect(); })) {}

BlockedGauges::~BlockedGauges() {
  collector_ = {};
  for (const std::string& name : shown_) {
    try {
      metrics_->remove(kName, {{"handler", name}});
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the series stays
    }
  }
}

void BlockedGauges::collect() {
  const auto scheduler = scheduler_.lock();
  if (scheduler == nullptr) return;
  std::set<std::string> gone = shown_;
  std::set<std::string> seen;
  for (const WorkerPool::Blocked& blocked : scheduler->workers().blocked()) {
    if (!seen.insert(blocked.name).second) continue;  // the longest comes first
    gone.erase(blocked.name);
    shown_.insert(blocked.name);
    metrics_
        ->gauge(kName,
                "How long a handler has been blocking a worker, while RuntimeOptions::max_threads "
                "keeps others waiting.",
                {{"handler", blocked.name}})
        .set(std::chrono::duration<double>(blocked.time).count());
  }
  for (const std::string& name : gone) {
    metrics_->remove(kName, {{"handler", name}});
    shown_.erase(name);
  }
}

}  // namespace kube::detail
