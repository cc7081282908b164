// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  [[nodiscard]] double sum() const noexcept {
    return cell_ ? cell_->sum.load(std::memory_order_relaxed) : 0;
  }

 private:
  friend class Metrics;
  struct Cell {
    explicit Cell(std::vector<double> upper_bounds)
        : bounds(std::move(upper_bounds)), counts(bounds.size() + 1) {}

    const std::vector<double> bounds;
    std::vector<std::atomic<std::uint64_t>> counts;  // of each bound alone; the last one: above all
    std::atomic<double> sum{0};
  };
  std::shared_ptr<Cell> cell_;
};

/// Keeps a function registered with Metrics::on_collect(). Its destructor waits for a call that is under
/// way; so the function must not destroy it.
class MetricsCollector {
 public:
  MetricsCollector() = default;
  MetricsCollector(MetricsCollector&&) noexcept = default;
  MetricsCollector& operator=(MetricsCollector&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~MetricsCollector();

 private:
  friend class Metrics;
  struct Entry {
    std::mutex mutex;
    std::function<void()> collect;  // guarded by mutex
  };
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
  enum class Kind { kCounter, kGauge, kHistogram };
  struct Series {
    Counter counter;
    Gauge gauge;
    Histogram histogram;
  };
  struct Family {
    Kind kind;
    std::string help;
    std::vector<double> bounds;
    std::map<MetricLabels, Series> series;
  };

  Series find_or_make(Kind kind, std::string_view name, std::string_view help, MetricLabels labels,
                      std::vector<double> bounds);
  void run_collectors();
  static void write_series(std::string& out, const std::string& name, const MetricLabels& labels,
                           const Series& series);

  std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, Family, std::less<>> families_;
  std::vector<std::weak_ptr<MetricsCollector::Entry>> collectors_;
  std::map<std::string, std::weak_ptr<const void>> claims_;
};

[[nodiscard]] inline Counter counter(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                                     std::string_view help, MetricLabels labels = {}) {
  return metrics ? metrics->counter(name, help, std::move(labels)) : Counter{};
}
[[nodiscard]] inline Gauge gauge(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                                 std::string_view help, MetricLabels labels = {}) {
  return metrics ? metrics->gauge(name, help, std::move(labels)) : Gauge{};
}
[[nodiscard]] inline Histogram histogram(const std::shared_ptr<Metrics>& metrics,
                                         std::string_view name, std::string_view help,
                                         std::vector<double> bounds, MetricLabels labels = {}) {
  return metrics ? metrics->histogram(name, help, std::move(bounds), std::move(labels))
                 : Histogram{};
}

}  // namespace kube
