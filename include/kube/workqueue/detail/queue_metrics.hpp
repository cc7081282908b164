// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/metrics.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace kube {

/// Options of all queues. Every field is optional.
struct WorkQueueOptions {
  std::string name{};                  ///< label of the metrics; if empty, there are none
  std::shared_ptr<Metrics> metrics{};  ///< null: no metrics
  Clock* clock = &system_clock();      ///< must outlive the queue
};

namespace detail {

/// The metrics of a queue. Disabled without a name or a registry; the queue then does not read the
/// clock for them.
class QueueMetrics {
 public:
  /// kPriorities labels the depth with the priority, as controller-runtime's priority queue does.
  enum class Style { kPlain, kPriorities };
  QueueMetrics(const WorkQueueOptions& options, Style style);

  [[nodiscard]] bool on() const noexcept { return registry_ != nullptr; }
  /// Returns the gauge for items of one priority; kPlain has only one gauge.
  [[nodiscard]] const Gauge& depth(int priority = 0);
  /// Reports the running time of items being processed. `oldest` is the first, or null; the others
  /// are linked in the order in which they were started.
  template <typename Entry>
  void set_running(const Entry* oldest, Clock::TimePoint now) const noexcept {
    using Seconds = std::chrono::duration<double>;
    longest_.set(oldest == nullptr ? 0 : Seconds{now - oldest->second.started_at}.count());
    double sum = 0;
    for (; oldest != nullptr; oldest = oldest->second.next) {
      sum += Seconds{now - oldest->second.started_at}.count();
    }
    unfinished_.set(sum);
  }
  /// Calls Metrics::on_collect(); returns an empty collector if disabled.
  [[nodiscard]] MetricsCollector on_collect(std::function<void()> collect) const;

  static void observe(const Histogram& histogram, Clock::Duration time) noexcept {
    histogram.observe(std::chrono::duration<double>{time}.count());
  }

  Counter adds;
  Counter retries;
  Histogram queue_duration;
  Histogram work_duration;

 private:
  std::shared_ptr<Metrics> registry_;
  Style style_;
  MetricLabels labels_;
  Gauge unfinished_;
  Gauge longest_;
  std::map<int, Gauge> depths_;
};

}  // namespace detail
}  // namespace kube
