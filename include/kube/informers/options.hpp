// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/metrics.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/options.hpp>
#include <kube/codec/options.hpp>
#include <kube/codec/projection.hpp>

#include <cstddef>
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
  /// Hears of everything that happens to any of the informers, in their threads. `informer` is its type or
  /// resource.
  std::function<void(std::string_view informer, const ReflectorEvent& event)> on_state = nullptr;

  /// Details. `resync` above goes before the one in here.
  InformerBehaviour behaviour = {};
  ReflectorOptions reflector = {};
  DeltaQueueOptions queue = {};
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
  IndexerOptions indexer = {};
  std::optional<QueueKind> queue_kind = std::nullopt;
};

}  // namespace kube
