// SPDX-License-Identifier: Apache-2.0
#include "delta_processor.hpp"
#include "informer_settings.hpp"
#include "thrown.hpp"

#include "reflector_core.hpp"

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
                           AnyHandler handler, InformerSettings given,
                           std::function<ObjectRef(const ObjectRef&)> transform)
    : InformerCore(completed(std::move(given), access), access, std::move(source),
                   std::move(handler), std::move(transform)) {}

InformerCore::InformerCore(const InformerSettings& settings, const ObjectAccess& access,
                           std::shared_ptr<AnyListWatch> source, AnyHandler handler,
                           std::function<ObjectRef(const ObjectRef&)> transform)
    : store_(std::make_shared<IndexerCore>(access, settings.indexer)),
      parts_(new Parts{std::move(handler), access, nullptr, nullptr}) {
  parts_->processor = std::make_unique<DeltaProcessor>(
      *store_,
      DeltaProcessorOptions{
          .notify_unchanged = settings.notify_unchanged,
          .notify_unknown_deletes = settings.notify_unknown_deletes,
          .resync_chunk = settings.resync_chunk,
          .clock = settings.reflector.clock,
          .metrics = settings.reflector.metrics,
          .on_error = [this](const std::exception& error) { parts_->controller->report(error); }},
      [this](const NotificationBatch& batch) {
        parts_->call_all(batch);
        return true;
      });
  DeltaProcessor& processor = *parts_->processor;
  parts_->controller = std::make_unique<CacheController>(
      access, std::move(source), make_queue(settings, access, store_),
      CacheControllerHooks{.process = process_hook(processor),
                           .retries = true,
                           .go_on = go_on_hook(processor),
                           .on_error = error_teller(settings, CacheError::Place::kProcessing),
                           .store = store_},
      settings.reflector,
      ReflectorHooks{.transform = std::move(transform),
                     .resync_period = settings.resync,
                     .on_error = error_teller(settings, CacheError::Place::kListWatch)});
}

InformerCore::~InformerCore() = default;

void InformerCore::run(std::stop_token stop) { parts_->controller->run(std::move(stop)); }
const DoneSignal& InformerCore::synced() const noexcept { return parts_->controller->synced(); }
std::string InformerCore::last_version() const {
  return parts_->controller->last_sync_resource_version();
}
std::string InformerCore::last_error() const { return parts_->controller->last_error(); }

}  // namespace kube::detail
