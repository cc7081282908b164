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

void DeltaProcessor::process(std::vector<Delta>& deltas, bool in_initial_list) {
  const Clock::TimePoint start = options_.clock->now();
  std::string errors;
  Delta& first = deltas.front();
  switch (first.type) {
    case DeltaType::kReplacedAll:
      replace(first, in_initial_list, errors);
      break;
    case DeltaType::kSyncAll:
      resyncs_.push_back({0, first.resync});
      (void)go_on();
      break;
    case DeltaType::kBookmark:
      store_.set_version(first.version);
      break;
    default:
      apply(deltas, in_initial_list, errors);
      break;
  }
  options_.metrics.processing_latency.observe(
      std::chrono::duration<double>(options_.clock->now() - start).count());
  if (const auto gauge = resource_version_gauge(store_.snapshot().resource_version())) {
    options_.metrics.store_version.set(*gauge);
  }
  if (!errors.empty() && options_.on_error) {
    options_.on_error(Error("not all items in the batch successfully processed: " + errors));
  }
}

/// What to tell of one change.
void DeltaProcessor::note(NotificationBatch& batch, StoreResult& result, const Delta& delta,
                          bool in_initial_list) const {
  using Kind = Notification::Kind;
  Notification note;
  note.object = delta.object;
  if (delta.type == DeltaType::kDeleted) {
    if (!result.before && !options_.notify_unknown_deletes) return;
    note.kind = Kind::kDelete;
    note.tombstone = delta.tombstone;
    if (!note.object) note.object = result.before;
    note.before = std::move(result.before);
    if (!note.object) note.key = std::make_shared<const std::string>(delta.key);
  } else if (!result.before) {
    note.kind = Kind::kAdd;
    note.initial = in_initial_list;
  } else {
    note.kind = Kind::kUpdate;
    if (result.unchanged) note.object = result.before;
    note.before = std::move(result.before);
    if (delta.type == DeltaType::kSync) {
      batch.resync = delta.resync;
      note.audience =
          delta.resync ? Notification::Audience::kReceivers : Notification::Audience::kAll;
    } else if (result.unchanged) {
      if (!options_.notify_unchanged) return;
      note.audience = Notification::Audience::kFlagged;
    }
  }
  batch.notifications.push_back(std::move(note));
}

void DeltaProcessor::apply(std::vector<Delta>& deltas, bool in_initial_list, std::string& errors) {
  std::vector<StoreChange> changes;
  changes.reserve(deltas.size());
  for (const Delta& delta : deltas) {
    changes.push_back({.object = delta.object,
                       .erase = delta.type == DeltaType::kDeleted,
                       .tombstone = delta.tombstone,
                       .key = delta.key});
  }
  std::vector<StoreResult> results;
  NotificationBatch batch;
  batch.sequence = store_.apply(changes, results);
  std::size_t failed = 0;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (results[i].error.empty()) {
      note(batch, results[i], deltas[i], in_initial_list);
    } else {
      ++failed;
      errors += (errors.empty() ? "" : "; ") + results[i].error;
    }
  }
  if (failed > 0) {
    errors = fmt::format("failed to execute ({}/{}) transactions failed due to: {}", failed,
                         deltas.size(), errors);
  }
  emit_(batch);
}

void DeltaProcessor::replace(Delta& list, bool in_initial_list, std::string& errors) {
  std::vector<StoreResult> results;
  std::vector<ObjectRef> removed;
  NotificationBatch batch;
  batch.sequence = store_.replace(list.objects, list.version, results, removed);
  for (const ObjectRef& object : removed) {
    batch.notifications.push_back({.kind = Notification::Kind::kDelete,
                                   .tombstone = true,
                                   .before = object,
                                   .object = object});
  }
  Delta one{.type = DeltaType::kReplaced};
  for (std::size_t i = 0; i < list.objects.size(); ++i) {
    if (!results[i].error.empty()) {
      errors += (errors.empty() ? "" : "; ") + results[i].error;
      continue;
    }
    one.object = std::move(list.objects[i]);
    note(batch, results[i], one, in_initial_list);
  }
  emit_(batch);
}

bool DeltaProcessor::go_on() {
  if (resyncs_.empty()) return false;
  Resync& resync = resyncs_.front();
  NotificationBatch batch;
  batch.resync = resync.request;
  // Of the newest state: what changed since the resync began has been told already.
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
  emit_(batch);
  return !resyncs_.empty();
}

}  // namespace kube::detail
