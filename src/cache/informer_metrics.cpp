// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/informer_metrics.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kube {

MetricsProbe::MetricsProbe(Metrics& metrics)
    : collector_(metrics.on_collect([this] {
        const std::lock_guard guard{mutex_};
        if (fill_) fill_();
      })) {}

void MetricsProbe::set(std::function<void()> fill) {
  const std::lock_guard guard{mutex_};
  fill_ = std::move(fill);
}

namespace {

/// Counts nothing. Never destroyed: threads may use it while the process exits.
union NoCounts {
  constexpr NoCounts() noexcept : counts() {}
  NoCounts(const NoCounts&) = delete;
  NoCounts& operator=(const NoCounts&) = delete;
  ~NoCounts() {}
  InformerCounts counts;
};
constinit const NoCounts kNoCounts;

}  // namespace

const InformerCounts* InformerMetrics::operator->() const noexcept {
  return counts_ ? counts_.get() : &kNoCounts.counts;
}

InformerMetrics InformerMetrics::in(const std::shared_ptr<Metrics>& metrics,
                                    const MetricLabels& labels) {
  if (!metrics) return {};
  const std::vector<double> latency{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  const std::vector<double> durations{0.01, 0.1, 1, 10, 60, 300, 600};
  const std::vector<double> amounts{1, 10, 100, 1000, 10'000, 100'000};
  const auto with = [&](std::string name, std::string value) {
    MetricLabels more = labels;
    more.emplace_back(std::move(name), std::move(value));
    return more;
  };
  const auto relists = [&](std::string reason) {
    return counter(metrics, "reflector_relists_total", "Lists that replaced a watch, by reason.",
                   with("reason", std::move(reason)));
  };
  const auto events = [&](std::string type) {
    return counter(metrics, "reflector_events_total", "Events of watches, by type.",
                   with("type", std::move(type)));
  };
  InformerMetrics made;
  made.counts_ = std::make_shared<const InformerCounts>(InformerCounts{
      .queued_items = gauge(metrics, "informer_queued_items",
                            "Deltas waiting to be applied to the store.", labels),
      .processing_latency =
          histogram(metrics, "informer_processing_latency_seconds",
                    "Time to apply deltas and to queue their notifications.", latency, labels),
      .store_version = gauge(metrics, "informer_store_resource_version",
                             "The last 15 digits of the store's resourceVersion.", labels),
      .lists = counter(metrics, "reflector_lists_total", "Lists that were started.", labels),
      .list_duration = histogram(metrics, "reflector_list_duration_seconds",
                                 "Time from the request to the last object.", durations, labels),
      .items_per_list =
          histogram(metrics, "reflector_items_per_list", "Objects per list.", amounts, labels),
      .watches = counter(metrics, "reflector_watches_total", "Watches that were opened.", labels),
      .short_watches = counter(metrics, "reflector_short_watches_total",
                               "Watches that ended within a second, without an event.", labels),
      .watch_duration = histogram(metrics, "reflector_watch_duration_seconds",
                                  "Duration of watches.", durations, labels),
      .items_per_watch =
          histogram(metrics, "reflector_items_per_watch", "Events per watch.", amounts, labels),
      .last_version = gauge(metrics, "reflector_last_resource_version",
                            "The last 15 digits of the resourceVersion read last.", labels),
      .added_events = events("added"),
      .modified_events = events("modified"),
      .deleted_events = events("deleted"),
      .bookmarks = events("bookmark"),
      .error_events = events("error"),
      .relists_after_expiry = relists("expired"),
      .relists_after_error = relists("error"),
      .relists_after_short_watch = relists("short_watch"),
      .relists_after_rejected_event = relists("rejected_event"),
      .watch_list_fallbacks =
          counter(metrics, "reflector_watch_list_fallbacks_total",
                  "Initial states that fell back from WatchList to a list.", labels),
      .rejected_objects = counter(metrics, "reflector_rejected_objects_total",
                                  "Objects that were skipped: no name, or another kind.", labels),
      .processing_errors = counter(metrics, "informer_processing_errors_total",
                                   "Deltas that could not be applied.", labels),
      .listener_backlog = gauge(metrics, "informer_listener_backlog",
                                "Notifications waiting for their handlers.", labels),
      .handler_duration = histogram(metrics, "informer_handler_duration_seconds",
                                    "Duration of handler calls.", latency, labels),
      .handler_failures =
          counter(metrics, "informer_handler_failures_total", "Handler calls that threw.", labels),
      .slow_inline_calls = counter(metrics, "informer_slow_inline_calls_total",
                                   "Inline handler calls that took longer than 10 ms.", labels),
      .coalesced = counter(metrics, "informer_coalesced_notifications_total",
                           "Notifications merged into a waiting one.", labels),
      .event_lag =
          histogram(metrics, "informer_event_lag_seconds",
                    "Time from reading an event to having it in the cache.", latency, labels),
      .objects = gauge(metrics, "informer_objects", "Objects in the cache.", labels),
      .bytes =
          gauge(metrics, "informer_bytes",
                "Memory of the cache: objects, their share of pooled content, the store.", labels),
      .event_age = gauge(metrics, "reflector_last_event_age_seconds",
                         "Time since the last data from the server.", labels),
      .bookmark_age = gauge(metrics, "reflector_last_bookmark_age_seconds",
                            "Time since the last bookmark or list.", labels),
      .probe = std::make_shared<MetricsProbe>(*metrics),
  });
  return made;
}

}  // namespace kube
