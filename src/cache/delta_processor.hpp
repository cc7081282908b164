// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "notification.hpp"

#include <kube/base/log.hpp>
#include <kube/cache/controller.hpp>
#include <kube/cache/delta.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/informer_metrics.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
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
/// What it throws (std::bad_alloc, mostly) ends a step, not the work, and so does a handler that is behind: the same call,
/// made again, goes on where the last one stopped. So each change is applied once and each notification emitted once, whatever fails between.
/// Used by one thread.
class DeltaProcessor {
 public:
  /// Returns false if not all of the batch could be passed on. Then, and when it has thrown, it is called again with the
  /// same batch, and leaves out what it has done already.
  using Emit = std::function<bool(const NotificationBatch& batch)>;
  using Progress = CacheControllerHooks::Progress;

  DeltaProcessor(IndexerCore& store, DeltaProcessorOptions options, Emit emit);

  /// Empties `deltas` when they have been processed. Returns false if a handler is behind.
  [[nodiscard]] bool process(std::vector<AnyDelta>& deltas, bool in_initial_list);
  /// Does a part of what is left of resyncs.
  [[nodiscard]] Progress go_on();

 private:
  struct Resync {
    std::uint32_t next = 0;
    std::shared_ptr<const ResyncRequest> request;
  };

  /// A change of the store of which handlers have not been told.
  struct Applied {
    std::vector<StoreResult> results;  ///< of each delta, or each object of a list
    std::vector<ObjectRef> removed;    ///< by a list
    std::size_t noted = 0;             ///< results that are in `batch_`
  };

  void apply(const std::vector<AnyDelta>& deltas);
  void note_all(std::vector<AnyDelta>& deltas, bool in_initial_list);
  void note(StoreResult& result, const AnyDelta& delta, bool in_initial_list);
  [[nodiscard]] bool emit();
  [[nodiscard]] static std::string errors_of(const Applied& applied);

  IndexerCore& store_;
  const DeltaProcessorOptions options_;
  const Emit emit_;
  std::list<Resync> resyncs_;
  std::optional<Applied> applied_;
  NotificationBatch batch_;  // made, and not emitted yet
  std::uint64_t batches_ = 0;
};

}  // namespace kube::detail
