// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer_core.hpp>

#include "delta_processor.hpp"
#include "informer_settings.hpp"
#include "processor.hpp"
#include "reflector_core.hpp"
#include "wait_for_end.hpp"

#include "base/fork.hpp"
#include "base/no_wait.hpp"
#include "base/thread_mark.hpp"
#include <kube/cache/controller.hpp>
#include <kube/engine/runtime.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace kube::detail {
/// The parts that exist only once the informer has been started.
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

std::shared_ptr<SharedInformerCore> make_shared_informer(const ObjectAccess& access,
                                                         std::shared_ptr<AnyListWatch> source,
                                                         InformerSettings settings) {
  return make_shared_in_process<SharedInformerCore>(access, std::move(source), std::move(settings));
}

/// Returns null if the informer has been started before. An exception leaves the informer not
/// started.
std::shared_ptr<SharedInformerCore::Running> SharedInformerCore::prepare() {
  processor_->process().check("the informer");
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
      [this, &parts = *running](const NotificationBatch& batch) {
        return processor_->distribute(batch, parts.controller->waker());
      });
  DeltaProcessor& processor = *running->processor;
  running->controller = std::make_unique<CacheController>(
      access_, source_, running->queue,
      CacheControllerHooks{.process = process_hook(processor),
                           .retries = true,
                           .go_on = go_on_hook(processor),
                           .on_error = error_teller(settings_, CacheError::Place::kProcessing),
                           .store = store_,
                           .may_block = false,
                           .on_end = [this] { controller_ended(); }},
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

void SharedInformerCore::start(const Runtime& runtime) {
  std::shared_ptr<Running> running = prepare();
  if (running == nullptr) running = this->running();
  processor_->start(Inside::core(runtime));
  bool is_stopping = false;
  running->controller->start(runtime);
  {
    const std::lock_guard guard{mutex_};
    begun_ = true;
    is_stopping = stop_requested_;
  }
  if (is_stopping) running->controller->stop();
}

void SharedInformerCore::request_stop() noexcept {
  if (processor_->process().is_of_parent()) return;
  std::shared_ptr<Running> running;
  {
    const std::lock_guard guard{mutex_};
    stop_requested_ = true;
    if (begun_) running = running_;
  }
  if (running == nullptr) return;
  processor_->do_not_wait();
  running->controller->stop();
}

/// Called by the controller when it has ended.
void SharedInformerCore::controller_ended() noexcept {
  {
    const std::lock_guard guard{mutex_};
    stopped_ = true;
  }
  processor_->request_stop();
}

const DoneSignal& SharedInformerCore::ended() const noexcept { return processor_->stopped(); }

void SharedInformerCore::run(std::stop_token stop) {
  require_may_wait("run() of an informer", "call it in a thread of your own");
  const std::shared_ptr<Running> running = prepare();
  if (running == nullptr) {
    settings_.reflector.log->warning("{} has been started already", synced_.name());
    return;
  }
  CacheController& controller = *running->controller;
  std::shared_ptr<Runtime> runtime;
  const auto begin = [&] {
    if (runtime == nullptr) runtime = controller.runtime();
    start(*runtime);
  };
  if (!controller.keep_trying(begin, stop)) {
    controller_ended();
    return;
  }
  {
    const std::stop_callback end{stop, [this]() noexcept { request_stop(); }};
    wait_for_end(ended(), *Inside::core(*runtime));
  }
  controller.join();
}

std::shared_ptr<SharedInformerCore::Running> SharedInformerCore::running() const {
  processor_->process().check("the informer");
  const std::lock_guard guard{mutex_};
  return running_;
}

HandlerRegistration SharedInformerCore::add_handler(AnyHandler handler, HandlerOptions options) {
  processor_->process().check("the informer");
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
  processor_->process().check("the informer");
  if (const auto& listener = Inside::core(registration)) processor_->remove(listener, how);
}

void SharedInformerCore::set_transform(Transform transform) {
  processor_->process().check("the informer");
  const std::lock_guard guard{mutex_};
  if (started_) throw std::logic_error("informer has already started");
  transform_ = std::move(transform);
}

void SharedInformerCore::set_watch_error_handler(
    std::function<void(const ReflectorError&)> handler) {
  processor_->process().check("the informer");
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
  processor_->process().check("the informer");
  const std::lock_guard guard{mutex_};
  return stopped_;
}

bool SharedInformerCore::runs_here() const {
  const auto now = running();
  return ThreadMark::is_set(processor_.get()) || (now != nullptr && now->controller->runs_here());
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
