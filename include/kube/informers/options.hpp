// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/metrics.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/options.hpp>
#include <kube/codec/options.hpp>
#include <kube/codec/projection.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Options of all informers of a factory. Every field is optional.
struct FactoryOptions {
  /// Period of the resync, which calls handlers for all cached objects; 0 disables it.
  Clock::Duration resync = {};
  /// Only objects in this namespace; empty for all. Ignored for cluster-scoped resources.
  std::string namespace_ = {};
  /// Changes the options of every list and watch, such as the selectors.
  std::function<void(ListOptions& options)> tweak_list_options = nullptr;
  /// Fields to drop from all cached objects, as JSON paths: "metadata.managedFields". They are
  /// skipped while decoding, before memory is allocated for them.
  std::vector<std::string> leave_out = {};

  /// Metrics registry; null disables metrics. Requires a `name` that no other factory uses in the
  /// same registry.
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Name of the factory in metrics.
  std::string name = {};
  /// Receives every state change of every informer; must not block. `informer` is its type or
  /// resource.
  std::function<void(std::string_view informer, const ReflectorEvent& event)> on_state = nullptr;

  /// Receives the errors of all informers, in addition to the log; see InformerOptions.
  std::function<void(const CacheError& error)> on_error = nullptr;

  // How informers list and watch.
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
  /// Compares each streamed state with a list of the same version. Expensive, for tests.
  std::optional<bool> check_consistency = std::nullopt;

  // The queue between a reflector and its cache.
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

  /// The clock of all timeouts and pauses. Must outlive the factory.
  Clock* clock = &system_clock();
  /// The source of all jitter.
  Random random = system_random();
  /// By default the Logger of the client.
  std::optional<Logger> log = std::nullopt;

  /// Bounds the size and depth of objects.
  DecodeLimits limits = {};
  /// Memory for the objects that new ones are compared with, per list or watch; see DecoderOptions.
  std::size_t sibling_bytes = std::size_t{8} << 20;
};

/// Options that differ for the objects of one type. Every field is optional.
template <typename T>
struct TypeOptions {
  /// If not set: as in FactoryOptions.
  std::optional<Clock::Duration> resync = std::nullopt;
  /// If not set: as in FactoryOptions.
  std::optional<std::string> namespace_ = std::nullopt;
  /// Called after the function of the factory.
  std::function<void(ListOptions& options)> tweak_list_options = nullptr;
  /// The fields to keep of each object; replaces FactoryOptions::leave_out.
  Projection projection = {};
  /// Changes each object before it is stored.
  Transform<T> transform = {};
  /// Named indexes of the cache, besides those of namespaces and labels.
  Indexers<T> indexers = {};
  /// Keeps an index of all labels, so that a list by selector need not scan every object.
  bool label_index = true;
  /// Keeps an index of namespaces, so that a list of one namespace need not scan every object.
  bool namespace_index = true;
  /// If not set: as in FactoryOptions.
  std::optional<QueueKind> queue_kind = std::nullopt;
};

}  // namespace kube
