// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/detail/queue_metrics.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kube::detail {
namespace {

std::vector<double> seconds_bounds() {
  return {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
}

}  // namespace

QueueMetrics::QueueMetrics(const WorkQueueOptions& options, Style style)
    : registry_(options.name.empty() ? nullptr : options.metrics), style_(style) {
  if (!registry_) return;
  labels_ = {{"name", options.name}};
  if (style == Style::kPriorities) labels_.emplace_back("controller", options.name);
  adds = registry_->counter("workqueue_adds_total", "Items added to the queue", labels_);
  retries = registry_->counter("workqueue_retries_total", "Items added with a delay", labels_);
  queue_duration =
      registry_->histogram("workqueue_queue_duration_seconds", "How long items stay in the queue",
                           seconds_bounds(), labels_);
  work_duration =
      registry_->histogram("workqueue_work_duration_seconds", "How long items are being processed",
                           seconds_bounds(), labels_);
  unfinished_ = registry_->gauge("workqueue_unfinished_work_seconds",
                                 "Running time of all items being processed", labels_);
  longest_ = registry_->gauge("workqueue_longest_running_processor_seconds",
                              "Running time of the oldest item being processed", labels_);
  (void)depth();
}

const Gauge& QueueMetrics::depth(int priority) {
  const int key = style_ == Style::kPlain ? 0 : priority;
  if (const auto found = depths_.find(key); found != depths_.end()) return found->second;
  Gauge gauge;
  if (registry_) {
    MetricLabels labels = labels_;
    if (style_ == Style::kPriorities) labels.emplace_back("priority", fmt::to_string(priority));
    gauge = registry_->gauge("workqueue_depth", "Items in the queue", std::move(labels));
  }
  return depths_.emplace(key, std::move(gauge)).first->second;
}

MetricsCollector QueueMetrics::on_collect(std::function<void()> collect) const {
  return registry_ ? registry_->on_collect(std::move(collect)) : MetricsCollector{};
}

}  // namespace kube::detail
