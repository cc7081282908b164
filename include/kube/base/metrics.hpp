// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Label names and values that identify one series of a metric. Values are UTF-8.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// A monotonically increasing number. Counter, Gauge and Histogram are handles: they can be copied
/// and may outlive the registry. A default-constructed handle counts nothing.
///
/// Thread safety: all methods, from any thread, lock-free.
class Counter {
 public:
  Counter() = default;

  /// Increases the number.
  void add(std::uint64_t by = 1) const noexcept {
    if (cell_) cell_->fetch_add(by, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return cell_ ? cell_->load(std::memory_order_relaxed) : 0;
  }

 private:
  friend class Metrics;
  using Cell = std::atomic<std::uint64_t>;
  std::shared_ptr<Cell> cell_;
};

/// A number that can go up and down.
class Gauge {
 public:
  Gauge() = default;

  /// Replaces the number.
  void set(double value) const noexcept {
    if (cell_) cell_->store(value, std::memory_order_relaxed);
  }
  /// Increases the number, or decreases it if `by` is negative.
  void add(double by = 1) const noexcept {
    if (cell_) cell_->fetch_add(by, std::memory_order_relaxed);
  }
  [[nodiscard]] double value() const noexcept {
    return cell_ ? cell_->load(std::memory_order_relaxed) : 0;
  }

 private:
  friend class Metrics;
  using Cell = std::atomic<double>;
  std::shared_ptr<Cell> cell_;
};

/// Counts observed values per bucket, and their sum.
class Histogram {
 public:
  Histogram() = default;

  /// Counts one value; durations are in seconds.
  void observe(double value) const noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] double sum() const noexcept;

 private:
  friend class Metrics;
  struct Cell;
  std::shared_ptr<Cell> cell_;
};

/// Keeps a function registered with Metrics::on_collect(). The destructor waits for a call in
/// progress; therefore the function must not destroy its own collector.
class MetricsCollector {
 public:
  MetricsCollector() = default;
  MetricsCollector(MetricsCollector&&) noexcept = default;
  MetricsCollector& operator=(MetricsCollector&& other) noexcept {
    entry_.swap(other.entry_);
    return *this;
  }
  ~MetricsCollector();

 private:
  friend class Metrics;
  struct Entry;
  explicit MetricsCollector(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}

  std::shared_ptr<Entry> entry_;
};

/// A registry of counters, gauges and histograms, with output in the Prometheus text format.
///
/// Requesting a series creates it (at 0) or finds it: all handles of a series share one number. A
/// request takes a lock and a look-up, so hot paths keep the handle. Objects that record metrics
/// take a std::shared_ptr<Metrics> in their options, null by default; for null, the free functions
/// below return handles that count nothing.
///
/// Thread safety: all methods, from any thread.
/// Throws std::invalid_argument if a name is not a valid Prometheus name, if bounds do not ascend,
/// or if the metric exists with another kind or other bounds. The help text of the first call is
/// kept.
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  /// Returns the counter with this name and these labels.
  [[nodiscard]] Counter counter(std::string_view name, std::string_view help,
                                MetricLabels labels = {});
  /// Returns the gauge with this name and these labels.
  [[nodiscard]] Gauge gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  /// Returns the histogram with this name and these labels. `bounds` are the upper limits of its
  /// buckets, ascending, without +Inf.
  [[nodiscard]] Histogram histogram(std::string_view name, std::string_view help,
                                    std::vector<double> bounds, MetricLabels labels = {});
  /// Removes one series, for instance when the object that it describes is gone. Its handles stay
  /// valid but are no longer exported.
  void remove(std::string_view name, MetricLabels labels = {});
  /// Removes all series, of any metric, that have at least these labels.
  void remove_all(const MetricLabels& labels);

  /// Reserves a name, so that two components do not use the same labels. Returns null if the name
  /// is taken. The name becomes free when the last copy of the result is destroyed.
  [[nodiscard]] std::shared_ptr<const void> claim(std::string name);

  /// Calls `collect` at the start of each text(), for gauges that are computed on demand.
  [[nodiscard]] MetricsCollector on_collect(std::function<void()> collect);

  /// Returns all series in the Prometheus text format (version 0.0.4), ordered by name and labels.
  [[nodiscard]] std::string text();
  /// The value of the Content-Type header for text().
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// Returns Metrics::counter(), or a handle that counts nothing if `metrics` is null.
[[nodiscard]] Counter counter(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                              std::string_view help, MetricLabels labels = {});
/// Returns Metrics::gauge(), or a handle that counts nothing if `metrics` is null.
[[nodiscard]] Gauge gauge(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                          std::string_view help, MetricLabels labels = {});
/// Returns Metrics::histogram(), or a handle that counts nothing if `metrics` is null.
[[nodiscard]] Histogram histogram(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                                  std::string_view help, std::vector<double> bounds,
                                  MetricLabels labels = {});

}  // namespace kube
