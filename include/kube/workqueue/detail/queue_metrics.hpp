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

struct WorkQueueOptions {
  std::string name{};                  ///< for metrics; without a name there are none
  std::shared_ptr<Metrics> metrics{};  ///< null: none
  Clock* clock = &system_clock();
};

namespace detail {

/// What a queue tells about itself. Off without a name or a registry; the queue then reads no clock for it.
class QueueMetrics {
 public:
  /// Whether priorities are told apart, as in the queue of the controller framework.
  enum class Style { kPlain, kPriorities };
  QueueMetrics(const WorkQueueOptions& options, Style style);

  [[nodiscard]] bool on() const noexcept { return registry_ != nullptr; }
  /// The number of items of one priority; the plain style has one number.
  [[nodiscard]] const Gauge& depth(int priority = 0);
  /// `oldest` is the first entry in processing, or null; the others follow in the order in which they were begun.
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
  /// See Metrics::on_collect(); nothing if off.
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
