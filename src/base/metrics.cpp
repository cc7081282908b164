// SPDX-License-Identifier: Apache-2.0
#include <kube/base/metrics.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>

namespace kube {
namespace {

bool is_name(std::string_view name, bool colons) {
  const auto allowed = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':') ||
           (c >= '0' && c <= '9');
  };
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::ranges::all_of(name, allowed);
}

/// Returns the labels sorted. Throws for names that Prometheus rejects, and for duplicates.
MetricLabels checked(std::string_view metric, MetricLabels labels) {
  if (!is_name(metric, true)) {
    throw std::invalid_argument{fmt::format("metrics: \"{}\" is not a valid metric name", metric)};
  }
  std::ranges::sort(labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& name = labels[i].first;
    if (!is_name(name, false) || name.starts_with("__") || name == "le" ||
        (i > 0 && labels[i - 1].first == name)) {
      throw std::invalid_argument{fmt::format(
          "metrics: {}: label name \"{}\" is invalid, reserved or used twice", metric, name)};
    }
  }
  return labels;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void append_line(std::string& out, std::string_view name, std::string_view suffix,
                 const MetricLabels& labels, std::string_view bound, std::string_view value) {
  out.append(name).append(suffix);
  char separator = '{';
  const auto append_label = [&](std::string_view label, std::string_view text) {
    out += std::exchange(separator, ',');
    out.append(label).append("=\"");
    append_escaped(out, text, true);
    out += '"';
  };
  for (const auto& [label, text] : labels) append_label(label, text);
  if (!bound.empty()) append_label("le", bound);
  if (separator == ',') out += '}';
  out.append(1, ' ').append(value).append(1, '\n');
}

}  // namespace

struct Histogram::Cell {
  explicit Cell(std::vector<double> upper_bounds)
      : bounds(std::move(upper_bounds)), counts(bounds.size() + 1) {}

  const std::vector<double> bounds;
  // Per bucket, not cumulative; the last one counts values above all bounds.
  std::vector<std::atomic<std::uint64_t>> counts;
  std::atomic<double> sum{0};
};

void Histogram::observe(double value) const noexcept {
  if (!cell_) return;
  const auto bound = std::ranges::lower_bound(cell_->bounds, value);
  const auto at = static_cast<std::size_t>(bound - cell_->bounds.begin());
  cell_->counts[at].fetch_add(1, std::memory_order_relaxed);
  cell_->sum.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t count = 0;
  if (cell_) {
    for (const auto& one : cell_->counts) count += one.load(std::memory_order_relaxed);
  }
  return count;
}

double Histogram::sum() const noexcept {
  return cell_ ? cell_->sum.load(std::memory_order_relaxed) : 0;
}

struct MetricsCollector::Entry {
  std::mutex mutex;
  std::function<void()> collect;  // guarded by mutex
};

MetricsCollector::~MetricsCollector() {
  if (!entry_) return;
  const std::lock_guard guard{entry_->mutex};
  entry_->collect = nullptr;
}

struct Metrics::State {
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

  std::mutex mutex;
  // Guarded by mutex:
  std::map<std::string, Family, std::less<>> families;
  std::vector<std::weak_ptr<MetricsCollector::Entry>> collectors;
  std::map<std::string, std::weak_ptr<const void>> claims;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(std::string_view name, std::string_view help, MetricLabels labels) {
  return state_->find_or_make(State::Kind::kCounter, name, help, std::move(labels), {}).counter;
}

Gauge Metrics::gauge(std::string_view name, std::string_view help, MetricLabels labels) {
  return state_->find_or_make(State::Kind::kGauge, name, help, std::move(labels), {}).gauge;
}

Histogram Metrics::histogram(std::string_view name, std::string_view help,
                             std::vector<double> bounds, MetricLabels labels) {
  // An infinite last bound is implied and therefore dropped; the others must be finite and ascend.
  if (!bounds.empty() && bounds.back() == HUGE_VAL) bounds.pop_back();
  if (std::ranges::adjacent_find(bounds, std::not_fn(std::less<>{})) != bounds.end() ||
      !std::ranges::all_of(bounds, [](double bound) { return std::isfinite(bound); })) {
    throw std::invalid_argument{fmt::format("metrics: {}: the bounds do not ascend", name)};
  }
  return state_
      ->find_or_make(State::Kind::kHistogram, name, help, std::move(labels), std::move(bounds))
      .histogram;
}

Metrics::State::Series Metrics::State::find_or_make(Kind kind, std::string_view name,
                                                    std::string_view help, MetricLabels labels,
                                                    std::vector<double> bounds) {
  labels = checked(name, std::move(labels));
  const std::lock_guard guard{mutex};
  auto family = families.find(name);
  if (family == families.end()) {
    family = families.emplace(name, Family{kind, std::string{help}, std::move(bounds), {}}).first;
  } else if (family->second.kind != kind || family->second.bounds != bounds) {
    throw std::invalid_argument{
        fmt::format("metrics: {} exists with another kind or other bounds", name)};
  }
  const auto [entry, is_new] = family->second.series.try_emplace(std::move(labels));
  Series& series = entry->second;
  if (is_new) {
    switch (kind) {
      case Kind::kCounter:
        series.counter.cell_ = std::make_shared<Counter::Cell>(0);
        break;
      case Kind::kGauge:
        series.gauge.cell_ = std::make_shared<Gauge::Cell>(0);
        break;
      case Kind::kHistogram:
        series.histogram.cell_ = std::make_shared<Histogram::Cell>(family->second.bounds);
        break;
    }
  }
  return series;
}

void Metrics::remove(std::string_view name, MetricLabels labels) {
  labels = checked(name, std::move(labels));
  const std::lock_guard guard{state_->mutex};
  const auto family = state_->families.find(name);
  if (family != state_->families.end()) family->second.series.erase(labels);
}

MetricsCollector Metrics::on_collect(std::function<void()> collect) {
  auto entry = std::make_shared<MetricsCollector::Entry>();
  entry->collect = std::move(collect);
  const std::lock_guard guard{state_->mutex};
  std::erase_if(state_->collectors, [](const auto& known) { return known.expired(); });
  state_->collectors.push_back(entry);
  return MetricsCollector{std::move(entry)};
}

void Metrics::remove_all(const MetricLabels& labels) {
  const std::lock_guard guard{state_->mutex};
  for (auto& [name, family] : state_->families) {
    std::erase_if(family.series, [&](const auto& series) {
      return std::ranges::all_of(labels, [&](const auto& label) {
        return std::ranges::find(series.first, label) != series.first.end();
      });
    });
  }
}

std::shared_ptr<const void> Metrics::claim(std::string name) {
  auto claimed = std::make_shared<char>();
  const std::lock_guard guard{state_->mutex};
  std::erase_if(state_->claims, [](const auto& claim) { return claim.second.expired(); });
  const bool is_free = state_->claims.emplace(std::move(name), claimed).second;
  return is_free ? claimed : nullptr;
}

void Metrics::State::run_collectors() {
  std::vector<std::weak_ptr<MetricsCollector::Entry>> registered;
  {
    const std::lock_guard guard{mutex};
    registered = collectors;
  }
  for (const auto& one : registered) {
    const auto entry = one.lock();
    if (!entry) continue;
    const std::lock_guard guard{entry->mutex};  // only blocks the destructor
    if (entry->collect) entry->collect();
  }
}

void Metrics::State::write_series(std::string& out, const std::string& name,
                                  const MetricLabels& labels, const Series& series) {
  if (series.counter.cell_) {
    append_line(out, name, "", labels, "", fmt::to_string(series.counter.value()));
  } else if (series.gauge.cell_) {
    append_line(out, name, "", labels, "", number(series.gauge.value()));
  } else if (const auto& cell = series.histogram.cell_) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < cell->counts.size(); ++i) {
      count += cell->counts[i].load(std::memory_order_relaxed);
      const std::string bound = i < cell->bounds.size() ? number(cell->bounds[i]) : "+Inf";
      append_line(out, name, "_bucket", labels, bound, fmt::to_string(count));
    }
    append_line(out, name, "_sum", labels, "", number(series.histogram.sum()));
    append_line(out, name, "_count", labels, "", fmt::to_string(count));
  }
}

std::string Metrics::text() {
  static constexpr std::string_view kKinds[] = {"counter", "gauge", "histogram"};
  state_->run_collectors();
  std::string out;
  const std::lock_guard guard{state_->mutex};
  for (const auto& [name, family] : state_->families) {
    if (family.series.empty()) continue;
    out.append("# HELP ").append(name).append(1, ' ');
    append_escaped(out, family.help, false);
    out.append("\n# TYPE ").append(name).append(1, ' ');
    out.append(kKinds[static_cast<std::size_t>(family.kind)]).append(1, '\n');
    for (const auto& [labels, series] : family.series)
      State::write_series(out, name, labels, series);
  }
  return out;
}

Counter counter(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                std::string_view help, MetricLabels labels) {
  return metrics ? metrics->counter(name, help, std::move(labels)) : Counter{};
}
Gauge gauge(const std::shared_ptr<Metrics>& metrics, std::string_view name, std::string_view help,
            MetricLabels labels) {
  return metrics ? metrics->gauge(name, help, std::move(labels)) : Gauge{};
}
Histogram histogram(const std::shared_ptr<Metrics>& metrics, std::string_view name,
                    std::string_view help, std::vector<double> bounds, MetricLabels labels) {
  return metrics ? metrics->histogram(name, help, std::move(bounds), std::move(labels))
                 : Histogram{};
}

}  // namespace kube
