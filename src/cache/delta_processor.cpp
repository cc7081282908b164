// SPDX-License-Identifier: Apache-2.0
#include "delta_processor.hpp"

#include <kube/base/error.hpp>
#include <kube/cache/resource_version.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace kube::detail {

DeltaProcessor::DeltaProcessor(IndexerCore& store, DeltaProcessorOptions options, Emit emit)
    : store_(store), options_(std::move(options)), emit_(std::move(emit)) {}

bool DeltaProcessor::process(std::vector<AnyDelta>& deltas, bool in_initial_list) {
  if (!applied_ && !emit()) return false;  // notifications of a resync
  if (deltas.empty()) return true;
  const Clock::TimePoint start = options_.clock->now();
  std::string errors;
  const AnyDelta& first = deltas.front();
  if (first.type == DeltaType::kSyncAll) {
    resyncs_.push_back({0, first.resync});
  } else if (first.type == DeltaType::kBookmark) {
    store_.set_version(first.version);
  } else {
    if (!applied_) apply(deltas);
    errors = errors_of(*applied_);
    note_all(deltas, in_initial_list);
    if (!emit()) return false;
    applied_.reset();
  }
  deltas.clear();
  options_.metrics->processing_latency.observe(
      std::chrono::duration<double>(options_.clock->now() - start).count());
  if (const auto gauge = resource_version_gauge(store_.snapshot().resource_version())) {
    options_.metrics->store_version.set(*gauge);
  }
  if (!errors.empty() && options_.on_error) {
    options_.on_error(Error("not all items in the batch successfully processed: " + errors));
  }
  return true;
}

/// Returns why some changes failed; empty if all succeeded.
std::string DeltaProcessor::errors_of(const Applied& applied) {
  std::string errors;
  std::size_t failed = 0;
  for (const StoreResult& result : applied.results) {
    if (result.error.empty()) continue;
    ++failed;
    if (!errors.empty()) errors += "; ";
    errors += result.error;
  }
  if (failed == 0) return {};
  return fmt::format("failed to execute ({}/{}) transactions failed due to: {}", failed,
                     applied.results.size(), errors);
}

/// Changes the store. Strong exception guarantee.
void DeltaProcessor::apply(const std::vector<AnyDelta>& deltas) {
  Applied applied;
  NotificationBatch batch;
  batch.number = ++batches_;
  const AnyDelta& first = deltas.front();
  if (first.type == DeltaType::kReplacedAll) {
    batch.sequence = store_.replace(first.objects, first.version, applied.results, applied.removed);
  } else {
    std::vector<StoreChange> changes;
    changes.reserve(deltas.size());
    for (const AnyDelta& delta : deltas) {
      changes.push_back({.object = delta.object,
                         .erase = delta.type == DeltaType::kDeleted,
                         .tombstone = delta.tombstone,
                         .key = delta.key});
    }
    batch.notifications.reserve(deltas.size());
    batch.sequence = store_.apply(changes, applied.results);
  }
  applied_ = std::move(applied);
  batch_ = std::move(batch);
}

/// Makes the notifications of the applied changes.
void DeltaProcessor::note_all(std::vector<AnyDelta>& deltas, bool in_initial_list) {
  Applied& applied = *applied_;
  batch_.notifications.reserve(applied.removed.size() + applied.results.size());
  for (ObjectRef& object : applied.removed) {
    batch_.notifications.push_back({.kind = Notification::Kind::kDelete,
                                    .tombstone = true,
                                    .before = object,
                                    .object = object});
  }
  applied.removed.clear();
  const bool is_list = deltas.front().type == DeltaType::kReplacedAll;
  AnyDelta one{.type = DeltaType::kReplaced};
  for (; applied.noted < applied.results.size(); ++applied.noted) {
    StoreResult& result = applied.results[applied.noted];
    if (!result.error.empty()) continue;
    if (is_list) one.object = std::move(deltas.front().objects[applied.noted]);
    note(result, is_list ? one : deltas[applied.noted], in_initial_list);
  }
}

/// Makes the notification of one change. Strong exception guarantee.
void DeltaProcessor::note(StoreResult& result, const AnyDelta& delta, bool in_initial_list) {
  using Kind = Notification::Kind;
  Notification note;
  note.object = delta.object;
  if (delta.type == DeltaType::kDeleted) {
    if (!result.before && !options_.notify_unknown_deletes) return;
    note.kind = Kind::kDelete;
    note.tombstone = delta.tombstone;
    if (!note.object) note.object = result.before;
    if (!note.object) note.key = std::make_shared<const std::string>(delta.key);
    note.before = std::move(result.before);
  } else if (!result.before) {
    note.kind = Kind::kAdd;
    note.initial = in_initial_list;
  } else {
    note.kind = Kind::kUpdate;
    if (result.unchanged) note.object = result.before;
    note.before = std::move(result.before);
    if (delta.type == DeltaType::kSync) {
      batch_.resync = delta.resync;
      note.audience =
          delta.resync ? Notification::Audience::kReceivers : Notification::Audience::kAll;
    } else if (result.unchanged) {
      if (!options_.notify_unchanged) return;
      note.audience = Notification::Audience::kFlagged;
    }
  }
  batch_.notifications.push_back(std::move(note));  // capacity was reserved
}

/// Passes the notifications on. Returns false if not all were accepted.
bool DeltaProcessor::emit() {
  if (batch_.notifications.empty() || (applied_ && applied_->noted < applied_->results.size())) {
    return true;
  }
  if (!emit_(batch_)) return false;
  batch_ = {};
  return true;
}

DeltaProcessor::Progress DeltaProcessor::go_on() {
  if (!emit()) return Progress::kBlocked;
  if (resyncs_.empty()) return Progress::kDone;
  Resync& resync = resyncs_.front();
  NotificationBatch batch;
  batch.number = ++batches_;
  batch.resync = resync.request;
  // Reads the newest state: changes since the resync began have already been reported.
  const StoreSnapshot snapshot = store_.snapshot();
  batch.sequence = UINT64_MAX;
  resync.next = snapshot.for_some(resync.next, options_.resync_chunk, [&](const ObjectRef& object) {
    batch.notifications.push_back({.kind = Notification::Kind::kUpdate,
                                   .audience = resync.request ? Notification::Audience::kReceivers
                                                              : Notification::Audience::kAll,
                                   .before = object,
                                   .object = object});
    return true;
  });
  if (resync.next == 0) resyncs_.pop_front();
  batch_ = std::move(batch);
  if (!emit()) return Progress::kBlocked;
  return resyncs_.empty() ? Progress::kDone : Progress::kMore;
}

}  // namespace kube::detail
