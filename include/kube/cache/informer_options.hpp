// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/feature_gates.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/cache/cache_error.hpp>
#include <kube/cache/delta_queue_options.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/informer_metrics.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/reflector_options.hpp>
#include <kube/cache/shared_informer_core.hpp>
#include <kube/cache/transform.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kube {

/// Settings of an informer. Any field may be left out.
template <typename T>
struct InformerOptions {
  /// Name in logs and errors; by default that of the type.
  std::string name = {};
  /// Resync period: how often handlers receive all objects again, from the cache. 0: never.
  Clock::Duration resync = {};
  /// Changes each object before it is stored.
  Transform<T> transform = {};
  /// Named indexes of the cache, besides those of namespaces and labels.
  Indexers<T> indexers = {};
  /// Keeps an index of all labels, so that a list by selector need not scan every object.
  bool label_index = true;
  /// Keeps an index of namespaces, so that a list of one namespace need not scan every object.
  bool namespace_index = true;

  /// Receives failures, in addition to the log. Called by a thread of the Runtime; must not wait.
  /// Its exceptions are swallowed.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// Receives every state change of the reflector. Called by a thread of the Runtime; must not wait.
  /// Its exceptions are swallowed.
  std::function<void(const ReflectorEvent& event)> on_state = nullptr;

  // How the informer lists and watches.
  /// Streams the existing objects through the watch (WatchList) instead of listing them, if the
  /// source supports it.
  bool watch_list = feature_default(Feature::kWatchListClient);
  /// Objects per LIST page. 0: 500, or all at once where the server can answer from memory.
  std::int64_t page_size = 0;
  /// Each watch asks the server to end it after a random time in [t, 2t); at least 5 minutes.
  std::chrono::seconds min_watch_timeout = ReflectorOptions{}.min_watch_timeout;
  /// The pauses after failed lists and watches.
  BackoffOptions backoff = ReflectorOptions{}.backoff;
  /// The shortest pause after a watch that ended early; see ReflectorOptions.
  Clock::Duration reconnect_floor = ReflectorOptions{}.reconnect_floor;
  /// The longest pause after watches that ended early.
  Clock::Duration reconnect_cap = ReflectorOptions{}.reconnect_cap;
  /// A watch that lasts at least this long has not ended early.
  Clock::Duration healthy_watch = ReflectorOptions{}.healthy_watch;
  /// How long a watch that ends with internal errors of the server is reopened without a new list.
  Clock::Duration max_internal_error_retry = {};
  /// Jitter of the first resync, as a fraction of the period.
  double resync_jitter = ReflectorOptions{}.resync_jitter;
  /// For untyped objects (Value): watch events of another kind are skipped.
  std::optional<GroupVersionKind> expected_kind = std::nullopt;
  /// Compares each streamed state with a list of the same version. Expensive, for tests.
  std::optional<bool> check_consistency = std::nullopt;

  // The queue between the reflector and the cache.
  /// InOrderQueue (client-go's RealFIFO), or its older DeltaFifo.
  QueueKind queue_kind = QueueKind::kInOrder;
  /// With this many changes queued, the informer stops reading (back-pressure); 0: no limit. See
  /// DeltaQueueOptions::max_items.
  std::size_t max_queued = DeltaQueueOptions{}.max_items;
  /// Maximum number of changes that are applied together.
  std::size_t batch_size = DeltaQueueOptions{}.batch_size;
  /// Coalesces a queued update with a newer one of the same object.
  bool compress = false;

  /// Reports objects of a new list to handlers even if they have not changed, as client-go does.
  bool notify_unchanged = false;
  /// Reports the deletion of objects that were never in the cache, as client-go does.
  bool notify_unknown_deletes = false;
  /// Number of objects that a resync delivers before other changes have their turn.
  std::size_t resync_chunk = 500;

  /// The clock of all timeouts and pauses. Must outlive the informer.
  Clock* clock = &system_clock();
  /// The source of all jitter.
  Random random = system_random();
  /// If not set: the logger of the source (for a ResourceListWatch that of its client), otherwise
  /// stderr_logger(). Logger{} is silent.
  std::optional<Logger> log = std::nullopt;
  /// By default, nothing is counted.
  InformerMetrics metrics = {};
};

namespace detail {

/// Splits the options of an informer, or those that a factory has for all of its informers, into
/// the settings of each part.
template <typename Options>
[[nodiscard]] InformerSettings informer_settings(const Options& options) {
  InformerSettings settings;
  settings.resync = options.resync;
  settings.queue_kind = options.queue_kind;
  settings.notify_unchanged = options.notify_unchanged;
  settings.notify_unknown_deletes = options.notify_unknown_deletes;
  settings.resync_chunk = options.resync_chunk;
  settings.on_error = options.on_error;

  ReflectorOptions& reflector = settings.reflector;
  reflector.watch_list = options.watch_list;
  reflector.page_size = options.page_size;
  reflector.min_watch_timeout = options.min_watch_timeout;
  reflector.backoff = options.backoff;
  reflector.reconnect_floor = options.reconnect_floor;
  reflector.reconnect_cap = options.reconnect_cap;
  reflector.healthy_watch = options.healthy_watch;
  reflector.max_internal_error_retry = options.max_internal_error_retry;
  reflector.resync_jitter = options.resync_jitter;
  reflector.check_consistency = options.check_consistency;
  reflector.clock = options.clock;
  reflector.random = options.random;
  reflector.log = options.log;

  settings.queue.max_items = options.max_queued;
  settings.queue.batch_size = options.batch_size;
  settings.queue.compress = options.compress;
  return settings;
}
template <typename T>
[[nodiscard]] InformerSettings informer_settings_of(const InformerOptions<T>& options,
                                                    const std::shared_ptr<ListWatch<T>>& source) {
  InformerSettings settings = informer_settings(options);
  settings.reflector.log = log_for(source, options.log);
  settings.reflector.name = options.name;
  settings.reflector.expected_kind = options.expected_kind;
  settings.reflector.on_state = options.on_state;
  settings.reflector.metrics = options.metrics;
  settings.indexer.label_index = options.label_index;
  settings.indexer.namespace_index = options.namespace_index;
  return settings;
}

}  // namespace detail
}  // namespace kube
