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

/// What all informers of a factory have in common. Any field may be left out.
struct FactoryOptions {
  /// How often handlers see all objects again, from the cache; 0: never.
  Clock::Duration resync = {};
  /// Only objects of this namespace; empty: of all. What has no namespace is there anyway.
  std::string namespace_ = {};
  /// Changes the options of every list and watch, such as the selectors.
  std::function<void(ListOptions& options)> tweak_list_options = nullptr;
  /// Fields that no cached object needs, as paths in JSON: "metadata.managedFields". They are skipped before
  /// anything is allocated.
  std::vector<std::string> leave_out = {};

  /// Where to count, if anywhere; needs a name, which no other factory has in this registry.
  std::shared_ptr<Metrics> metrics = nullptr;
  std::string name = {};
  /// Hears of everything that happens to any of the informers; must not block. `informer` is its type or
  /// resource.
  std::function<void(std::string_view informer, const ReflectorEvent& event)> on_state = nullptr;

  /// Hears of failures of any of the informers, besides the log; see InformerOptions.
  std::function<void(const CacheError& error)> on_error = nullptr;

  // How informers list and watch; see ReflectorOptions.
  bool watch_list = feature_default(Feature::kWatchListClient);
  std::int64_t page_size = 0;
  std::chrono::seconds min_watch_timeout = ReflectorOptions{}.min_watch_timeout;
  BackoffOptions backoff = ReflectorOptions{}.backoff;
  Clock::Duration reconnect_floor = ReflectorOptions{}.reconnect_floor;
  Clock::Duration reconnect_cap = ReflectorOptions{}.reconnect_cap;
  Clock::Duration healthy_watch = ReflectorOptions{}.healthy_watch;
  Clock::Duration max_internal_error_retry = {};
  double resync_jitter = ReflectorOptions{}.resync_jitter;
  std::optional<bool> check_consistency = std::nullopt;

  // The queue between a reflector and its cache; see DeltaQueueOptions.
  QueueKind queue_kind = QueueKind::kInOrder;
  std::size_t max_queued = DeltaQueueOptions{}.max_items;
  std::size_t batch_size = DeltaQueueOptions{}.batch_size;
  bool compress = false;

  /// See InformerOptions.
  bool notify_unchanged = false;
  bool notify_unknown_deletes = false;
  std::size_t resync_chunk = 500;

  /// Must outlive the factory.
  Clock* clock = &system_clock();
  Random random = system_random();
  /// By default that of the client.
  std::optional<Logger> log = std::nullopt;

  DecodeLimits limits = {};
  /// Memory for objects that the next ones are compared with, per list or watch; see DecoderOptions.
  std::size_t sibling_bytes = std::size_t{8} << 20;
};

/// What is different for the objects of one type. Any field may be left out.
template <typename T>
struct TypeOptions {
  std::optional<Clock::Duration> resync = std::nullopt;
  std::optional<std::string> namespace_ = std::nullopt;
  /// Called after that of the factory.
  std::function<void(ListOptions& options)> tweak_list_options = nullptr;
  /// What to keep of each object, in place of FactoryOptions::leave_out.
  Projection projection = {};
  Transform<T> transform = {};
  Indexers<T> indexers = {};
  /// See IndexerOptions.
  bool label_index = true;
  bool namespace_index = true;
  std::optional<QueueKind> queue_kind = std::nullopt;
};

}  // namespace kube
