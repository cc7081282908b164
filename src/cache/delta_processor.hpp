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
  /// Reports objects that a new list contains unchanged.
  bool notify_unchanged = false;
  /// Reports the deletion of objects that were never stored.
  bool notify_unknown_deletes = false;
  /// Number of objects that a resync delivers before other deltas have their turn.
  std::size_t resync_chunk = 500;
  Clock* clock = &system_clock();
  InformerMetrics metrics = {};
  /// Receives the errors of deltas that could not be applied; all others were.
  std::function<void(const std::exception& error)> on_error = nullptr;
};

/// Applies deltas to a store, then emits the notifications for handlers.
///
/// It is restartable: after an exception (mostly std::bad_alloc), or when a handler's backlog is
/// full, the same call, made again, continues where the last one stopped. Each change is applied
/// once, and each notification emitted once.
/// Thread safety: used by one thread.
class DeltaProcessor {
 public:
  /// Returns false if not all of the batch was accepted. After that, or an exception, it is called
  /// again with the same batch, and must skip the part that it has accepted already.
  using Emit = std::function<bool(const NotificationBatch& batch)>;
  using Progress = CacheControllerHooks::Progress;

  DeltaProcessor(IndexerCore& store, DeltaProcessorOptions options, Emit emit);

  /// Processes and then clears `deltas`. Returns false if a handler's backlog is full.
  [[nodiscard]] bool process(std::vector<AnyDelta>& deltas, bool in_initial_list);
  /// Processes a chunk of the pending resyncs.
  [[nodiscard]] Progress go_on();

 private:
  struct Resync {
    std::uint32_t next = 0;
    std::shared_ptr<const ResyncRequest> request;
  };

  /// A change of the store for which notifications are still to be made.
  struct Applied {
    std::vector<StoreResult> results;  ///< one per delta, or per object of a list
    std::vector<ObjectRef> removed;    ///< objects removed by a list
    std::size_t noted = 0;             ///< number of results whose notifications are in `batch_`
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
  NotificationBatch batch_;  // notifications not emitted yet
  std::uint64_t batches_ = 0;
};

}  // namespace kube::detail
