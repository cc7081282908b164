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

/// Names and values that tell one series of a metric from the others. Values are UTF-8.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// A number that only grows. This and the two below are handles that may be copied and outlive the
/// registry; one made by default counts nothing. Thread safety: all methods, from any thread, lock-free.
class Counter {
 public:
  Counter() = default;

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

/// A number that goes up and down.
class Gauge {
 public:
  Gauge() = default;

  void set(double value) const noexcept {
    if (cell_) cell_->store(value, std::memory_order_relaxed);
  }
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

/// How often values fell below each of several bounds, and their sum.
class Histogram {
 public:
  Histogram() = default;

  void observe(double value) const noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] double sum() const noexcept;

 private:
  friend class Metrics;
  struct Cell;
  std::shared_ptr<Cell> cell_;
};

/// Keeps a function registered with Metrics::on_collect(). Its destructor waits for a call that is under
/// way; so the function must not destroy it.
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

/// A registry of counters, gauges and histograms, and their text as Prometheus reads it.
///
/// Asking for a series makes it (at 0) or finds it: both give a handle to the same number. That takes a lock
/// and a look-up, so hot paths ask once and keep the handle. Objects that record metrics take a
/// std::shared_ptr<Metrics> in their options, null by default; the free functions below give handles that
/// count nothing for a null one.
///
/// Thread safety: all methods, from any thread.
/// Throws std::invalid_argument if a name is not one for Prometheus, if bounds do not ascend, or if the metric
/// exists with another kind or other bounds. The help of the first call stays.
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  [[nodiscard]] Counter counter(std::string_view name, std::string_view help,
                                MetricLabels labels = {});
  [[nodiscard]] Gauge gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  [[nodiscard]] Histogram histogram(std::string_view name, std::string_view help,
                                    std::vector<double> bounds, MetricLabels labels = {});
  /// Forgets one series, as when what it tells about is gone. Handles of it go on to work, unseen.
  void remove(std::string_view name, MetricLabels labels = {});
  /// Forgets all series that have (at least) these labels, whatever their metric.
  void remove_all(const MetricLabels& labels);

  /// Reserves a name, so that two who count do not take the same labels. Null if somebody has it. It is free
  /// again when the last copy of the result is gone.
  [[nodiscard]] std::shared_ptr<const void> claim(std::string name);

  /// Calls `collect` at the beginning of each text(): for gauges that are computed when somebody looks.
  [[nodiscard]] MetricsCollector on_collect(std::function<void()> collect);

  /// All series in the text format of Prometheus (version 0.0.4), ordered by name and by labels.
  [[nodiscard]] std::string text();
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// The series of `metrics`; a handle that counts nothing if `metrics` is null.
[[nodiscard]] Counter counter(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                              std::string_view help, MetricLabels labels = {});
[[nodiscard]] Gauge gauge(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                          std::string_view help, MetricLabels labels = {});
[[nodiscard]] Histogram histogram(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                                  std::string_view help, std::vector<double> bounds,
                                  MetricLabels labels = {});

}  // namespace kube
