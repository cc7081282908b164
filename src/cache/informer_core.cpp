// SPDX-License-Identifier: Apache-2.0
#include "delta_processor.hpp"
#include "thrown.hpp"

#include <kube/cache/controller.hpp>
#include <kube/cache/informer.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::detail {

struct InformerCore::Parts {
  AnyHandler handler;
  const ObjectAccess& access;
  std::unique_ptr<DeltaProcessor> processor;
  std::unique_ptr<CacheController> controller;

  void call(const Notification& note) const {
    switch (note.kind) {
      case Notification::Kind::kAdd:
        if (handler.on_add) handler.on_add(note.object, note.initial);
        break;
      case Notification::Kind::kUpdate:
        if (handler.on_update) handler.on_update(note.before, note.object);
        break;
      case Notification::Kind::kDelete:
        if (handler.on_delete) {
          handler.on_delete(note.object, note.object ? access.key(note.object.get()) : *note.key,
                            !note.tombstone);
        }
        break;
      case Notification::Kind::kNone:
        break;
    }
  }
  void call_all(const NotificationBatch& batch) const noexcept {
    for (const Notification& note : batch.notifications) {
      try {
        call(note);
      } catch (...) {
        with_current_exception([&](const std::exception& error) { controller->report(error); });
      }
    }
  }
};

InformerCore::InformerCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                           AnyHandler handler, InformerBehaviour behaviour,
                           ReflectorOptions reflector, DeltaQueueOptions queue,
                           IndexerOptions indexer,
                           std::function<ObjectRef(const ObjectRef&)> transform)
    : store_(
          std::make_shared<IndexerCore>(access, with_clock(std::move(indexer), *reflector.clock))),
      parts_(new Parts{std::move(handler), access, nullptr, nullptr}) {
  parts_->processor = std::make_unique<DeltaProcessor>(
      *store_,
      DeltaProcessorOptions{
          .notify_unchanged = behaviour.notify_unchanged,
          .notify_unknown_deletes = behaviour.notify_unknown_deletes,
          .resync_chunk = behaviour.resync_chunk,
          .clock = reflector.clock,
          .metrics = reflector.metrics,
          .on_error = [this](const std::exception& error) { parts_->controller->report(error); }},
      [this](const NotificationBatch& batch) { parts_->call_all(batch); });
  queue.clock = reflector.clock;
  queue.queued = reflector.metrics.queued_items;
  if (reflector.metrics.probe) queue.lag = reflector.metrics.event_lag;
  queue.log = reflector.log.value_or(stderr_logger()).named("queue");
  std::shared_ptr<DeltaQueueCore> deltas;
  if (behaviour.queue_kind == QueueKind::kInOrder) {
    deltas = std::make_shared<InOrderQueueCore>(access, store_, std::move(queue));
  } else {
    deltas = std::make_shared<DeltaFifoCore>(access, store_, std::move(queue));
  }
  DeltaProcessor& processor = *parts_->processor;
  parts_->controller = std::make_unique<CacheController>(
      access, std::move(source), std::move(deltas),
      CacheControllerHooks{
          .process = [&processor](std::vector<AnyDelta>& batch,
                                  bool initial) { processor.process(batch, initial); },
          .retries = true,
          .go_on = [&processor] { return processor.go_on(); },
          .on_error = std::move(behaviour.on_processing_error),
          .store = store_},
      std::move(reflector),
      ReflectorHooks{.transform = std::move(transform), .resync_period = behaviour.resync});
}

InformerCore::~InformerCore() = default;

void InformerCore::run(std::stop_token stop) { parts_->controller->run(std::move(stop)); }
const DoneSignal& InformerCore::synced() const noexcept { return parts_->controller->synced(); }
std::string InformerCore::last_version() const {
  return parts_->controller->last_sync_resource_version();
}
std::string InformerCore::last_error() const { return parts_->controller->last_error(); }

}  // namespace kube::detail
