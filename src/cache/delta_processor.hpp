// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "notification.hpp"

#include <kube/base/log.hpp>
#include <kube/cache/delta.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/informer_metrics.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kube::detail {

struct DeltaProcessorOptions {
  /// Tell of objects that a new list brought unchanged.
  bool notify_unchanged = false;
  /// Tell of the deletion of what was never stored.
  bool notify_unknown_deletes = false;
  /// Objects that a resync shows at once, before other deltas have their turn.
  std::size_t resync_chunk = 500;
  Clock* clock = &system_clock();
  InformerMetrics metrics = {};
  /// Hears of deltas that could not be applied; all others have been.
  std::function<void(const std::exception& error)> on_error = nullptr;
};

/// Applies deltas to a store and says what handlers are to be told: always after the store has changed.
///
/// Used by one thread.
class DeltaProcessor {
 public:
  using Emit = std::function<void(NotificationBatch& batch)>;

  DeltaProcessor(IndexerCore& store, DeltaProcessorOptions options, Emit emit);

  void process(std::vector<Delta>& deltas, bool in_initial_list);
  /// Does a part of what is left of resyncs. True if there is more.
  bool go_on();

 private:
  struct Resync {
    std::uint32_t next = 0;
    std::shared_ptr<const ResyncRequest> request;
  };

  void apply(std::vector<Delta>& deltas, bool in_initial_list, std::string& errors);
  void replace(Delta& list, bool in_initial_list, std::string& errors);
  void note(NotificationBatch& batch, StoreResult& result, const Delta& delta,
            bool in_initial_list) const;

  IndexerCore& store_;
  const DeltaProcessorOptions options_;
  const Emit emit_;
  std::deque<Resync> resyncs_;
};

}  // namespace kube::detail
