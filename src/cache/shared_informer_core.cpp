// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer_core.hpp>

#include "delta_processor.hpp"
#include "informer_settings.hpp"
#include "processor.hpp"

#include "base/thread_mark.hpp"
#include <kube/cache/controller.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace kube::detail {
/// What exists only while the informer runs.
struct SharedInformerCore::Running {
  std::shared_ptr<DeltaQueueCore> queue;
  std::unique_ptr<DeltaProcessor> processor;
  std::unique_ptr<CacheController> controller;
};

SharedInformerCore::SharedInformerCore(const ObjectAccess& access,
                                       std::shared_ptr<AnyListWatch> source,
                                       InformerSettings settings)
    : access_(access),
      source_(std::move(source)),
      settings_(completed(std::move(settings), access)),
      store_(std::make_shared<IndexerCore>(access, settings_.indexer)),
      synced_("SharedIndexInformer " + settings_.reflector.type_description),
      processor_(std::make_unique<Processor>(
          ListenerContext{access, *settings_.reflector.clock,
                          settings_.reflector.log->named("informer"), settings_.reflector.metrics,
                          synced_.name(), settings_.on_error},
          settings_.resync)) {}

SharedInformerCore::~SharedInformerCore() = default;

/// Null if the informer has been started before. What it throws leaves the informer not started.
std::shared_ptr<SharedInformerCore::Running> SharedInformerCore::start() {
  const std::lock_guard guard{mutex_};
  if (started_) return nullptr;
  auto running = std::make_shared<Running>();
  running->queue = make_queue(settings_, access_, store_);
  running->processor = std::make_unique<DeltaProcessor>(
      *store_,
      DeltaProcessorOptions{
          .notify_unchanged = settings_.notify_unchanged,
          .notify_unknown_deletes = settings_.notify_unknown_deletes,
          .resync_chunk = settings_.resync_chunk,
          .clock = settings_.reflector.clock,
          .metrics = settings_.reflector.metrics,
          .on_error = [&parts = *running](
                          const std::exception& error) { parts.controller->report(error); }},
      [this](const NotificationBatch& batch) { processor_->distribute(batch); });
  DeltaProcessor& processor = *running->processor;
  running->controller = std::make_unique<CacheController>(
      access_, source_, running->queue,
      CacheControllerHooks{
          .process = [&processor](std::vector<AnyDelta>& deltas,
                                  bool initial) { processor.process(deltas, initial); },
          .retries = true,
          .go_on = [&processor] { return processor.go_on(); },
          .on_error = error_teller(settings_, CacheError::Place::kProcessing),
          .store = store_},
      settings_.reflector,
      ReflectorHooks{.transform = transform_,
                     .resync_period = processor_->check_period(),
                     .due_for_resync = [this] { return processor_->due_for_resync(); },
                     .on_error = error_teller(settings_, CacheError::Place::kListWatch)});
  running->queue->synced().on_done([this] {
    synced_.fire();
    processor_->upstream_synced();
  });
  running_ = running;
  started_ = true;
  return running;
}

void SharedInformerCore::run(std::stop_token stop) {
  const std::shared_ptr<Running> running = start();
  if (running == nullptr) {
    settings_.reflector.log->warning("{} has been started already", synced_.name());
    return;
  }
  CacheController& controller = *running->controller;
  if (controller.keep_trying([this] { processor_->start(); }, stop)) {
    const std::stop_callback unblock{stop, [this] { processor_->do_not_wait(); }};
    controller.run(stop);
  }
  {
    const std::lock_guard guard{mutex_};
    stopped_ = true;
  }
  processor_->stop();
}

std::shared_ptr<SharedInformerCore::Running> SharedInformerCore::running() const {
  const std::lock_guard guard{mutex_};
  return running_;
}

HandlerRegistration SharedInformerCore::add_handler(AnyHandler handler, HandlerOptions options) {
  bool started = false;
  {
    const std::lock_guard guard{mutex_};
    started = started_;
    if (stopped_) {
      throw std::logic_error(
          fmt::format("handler {} was not added to shared informer because it has stopped already",
                      options.name));
    }
  }
  return Inside::make<HandlerRegistration>(processor_->add(
      std::move(handler), std::move(options), [this] { return store_->snapshot(); }, started));
}

void SharedInformerCore::remove_handler(const HandlerRegistration& registration, Removal how) {
  if (const auto& listener = Inside::core(registration)) processor_->remove(listener, how);
}

void SharedInformerCore::set_transform(Transform transform) {
  const std::lock_guard guard{mutex_};
  if (started_) throw std::logic_error("informer has already started");
  transform_ = std::move(transform);
}

void SharedInformerCore::set_watch_error_handler(
    std::function<void(const ReflectorError&)> handler) {
  const std::lock_guard guard{mutex_};
  if (started_) throw std::logic_error("informer has already started");
  settings_.reflector.on_error = std::move(handler);
}

void SharedInformerCore::check_not_stopped() const {
  if (is_stopped()) {
    throw std::logic_error("indexer was not added because it has stopped already");
  }
}

bool SharedInformerCore::is_stopped() const {
  const std::lock_guard guard{mutex_};
  return stopped_;
}

bool SharedInformerCore::runs_here() const {
  const auto now = running();
  return ThreadMark::is_set(processor_.get()) ||
         (now != nullptr && ThreadMark::is_set(now->controller.get()));
}

std::string SharedInformerCore::last_version() const {
  const auto now = running();
  return now ? now->controller->last_sync_resource_version() : std::string{};
}

std::string SharedInformerCore::last_error() const {
  const auto now = running();
  return now ? now->controller->last_error() : std::string{"not started"};
}

std::size_t SharedInformerCore::backlog() const { return processor_->backlog(); }

}  // namespace kube::detail
