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

/// How an informer works. Any field may be left out.
template <typename T>
struct InformerOptions {
  /// For logs and errors; by default the type.
  std::string name = {};
  /// How often handlers see all objects again, from the cache; 0: never.
  Clock::Duration resync = {};
  /// Changes each object before it is stored.
  Transform<T> transform = {};
  Indexers<T> indexers = {};
  /// See IndexerOptions.
  bool label_index = true;
  bool namespace_index = true;

  /// Hears of failures, besides the log. Called in a thread of the informer; its exceptions are swallowed.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// Hears of everything that the reflector does, in its thread. Its exceptions are swallowed.
  std::function<void(const ReflectorEvent& event)> on_state = nullptr;

  // How it lists and watches; see ReflectorOptions.
  bool watch_list = feature_default(Feature::kWatchListClient);
  std::int64_t page_size = 0;
  std::chrono::seconds min_watch_timeout = ReflectorOptions{}.min_watch_timeout;
  BackoffOptions backoff = ReflectorOptions{}.backoff;
  Clock::Duration reconnect_floor = ReflectorOptions{}.reconnect_floor;
  Clock::Duration reconnect_cap = ReflectorOptions{}.reconnect_cap;
  Clock::Duration healthy_watch = ReflectorOptions{}.healthy_watch;
  Clock::Duration max_internal_error_retry = {};
  double resync_jitter = ReflectorOptions{}.resync_jitter;
  std::optional<GroupVersionKind> expected_kind = std::nullopt;
  std::optional<bool> check_consistency = std::nullopt;

  // The queue between the reflector and the cache; see DeltaQueueOptions.
  QueueKind queue_kind = QueueKind::kInOrder;
  std::size_t max_queued = DeltaQueueOptions{}.max_items;
  std::size_t batch_size = DeltaQueueOptions{}.batch_size;
  bool compress = false;

  /// As client-go: after a new list, tell handlers of objects that have not changed, too.
  bool notify_unchanged = false;
  /// As client-go: tell of the deletion of objects that were never in the cache.
  bool notify_unknown_deletes = false;
  /// Objects that a resync shows before other changes have their turn.
  std::size_t resync_chunk = 500;

  /// Must outlive the informer.
  Clock* clock = &system_clock();
  Random random = system_random();
  /// Not set: that of the source, ResourceListWatch: of its client; otherwise stderr_logger(). Logger{} is silent.
  std::optional<Logger> log = std::nullopt;
  InformerMetrics metrics = {};
};

namespace detail {

/// Sorts the options of an informer, or those that a factory has for all of its informers, by the part that they are for.
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
