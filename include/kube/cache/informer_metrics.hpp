// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/metrics.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace kube {

/// Updates gauges that are computed only when metrics are read.
///
/// Thread safety: all methods, from any thread.
class MetricsProbe {
 public:
  explicit MetricsProbe(Metrics& metrics);

  /// Sets the function that each Metrics::text() calls first, replacing the previous one; null:
  /// none. Waits for a call that is under way.
  void set(std::function<void()> fill);

 private:
  std::mutex mutex_;
  std::function<void()> fill_;  // guarded by mutex_, also during the call
  MetricsCollector collector_;
};

/// The metrics of one informer, one by one.
struct InformerCounts {
  // These have the names and labels that Kubernetes itself uses.
  Gauge queued_items;            ///< informer_queued_items
  Histogram processing_latency;  ///< informer_processing_latency_seconds
  Gauge store_version;           ///< informer_store_resource_version

  Counter lists;              ///< reflector_lists_total
  Histogram list_duration;    ///< reflector_list_duration_seconds
  Histogram items_per_list;   ///< reflector_items_per_list
  Counter watches;            ///< reflector_watches_total
  Counter short_watches;      ///< reflector_short_watches_total
  Histogram watch_duration;   ///< reflector_watch_duration_seconds
  Histogram items_per_watch;  ///< reflector_items_per_watch
  Gauge last_version;         ///< reflector_last_resource_version

  // One series of reflector_events_total each, by the label `type`.
  Counter added_events;
  Counter modified_events;
  Counter deleted_events;
  Counter bookmarks;
  Counter error_events;

  // One series of reflector_relists_total each, by the label `reason`.
  Counter relists_after_expiry;
  Counter relists_after_error;
  Counter relists_after_short_watch;
  Counter relists_after_rejected_event;

  Counter watch_list_fallbacks;  ///< reflector_watch_list_fallbacks_total
  Counter rejected_objects;      ///< reflector_rejected_objects_total
  Counter processing_errors;     ///< informer_processing_errors_total
  Gauge listener_backlog;      ///< informer_listener_backlog: waiting notifications of all handlers
  Histogram handler_duration;  ///< informer_handler_duration_seconds
  Counter handler_failures;    ///< informer_handler_failures_total
  Counter slow_inline_calls;   ///< informer_slow_inline_calls_total
  Counter coalesced;           ///< informer_coalesced_notifications_total
  /// informer_event_lag_seconds: time from reading an event to having it in the cache
  Histogram event_lag;

  // Computed when metrics are read, while the informer runs. Counting the bytes visits every
  // object.
  Gauge objects;    ///< informer_objects
  Gauge bytes;      ///< informer_bytes: objects, their share of pooled content, and the store
  Gauge event_age;  ///< reflector_last_event_age_seconds: time since the last data from the server
  /// reflector_last_bookmark_age_seconds: time since the last bookmark or list
  Gauge bookmark_age;
  std::shared_ptr<MetricsProbe> probe;  ///< null if nothing is counted
};

/// The metrics of one informer: a handle, which its parts share. A default-constructed object
/// counts nothing.
class InformerMetrics {
 public:
  InformerMetrics() = default;

  /// Returns metrics registered in `metrics`, distinguished by `labels` (name, group, version,
  /// resource).
  [[nodiscard]] static InformerMetrics in(const std::shared_ptr<Metrics>& metrics,
                                          const MetricLabels& labels);

  /// Never null.
  [[nodiscard]] const InformerCounts* operator->() const noexcept;

 private:
  std::shared_ptr<const InformerCounts> counts_;  // null: counts nothing
};

}  // namespace kube
