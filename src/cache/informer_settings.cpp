// SPDX-License-Identifier: Apache-2.0
#include "informer_settings.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace kube::detail {

void tell_error(const OnCacheError& on_error, CacheError::Place place, std::string_view name,
                std::string_view key, const std::exception& error) noexcept {
  if (!on_error) return;
  try {
    on_error({.place = place,
              .name = std::string{name},
              .key = std::string{key},
              .message = error.what(),
              .cause = std::current_exception()});
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing is left to report it to
  }
}

InformerSettings completed(InformerSettings settings, const ObjectAccess& access) {
  ReflectorOptions& reflector = settings.reflector;
  if (!reflector.log) reflector.log = stderr_logger();
  if (reflector.type_description.empty()) reflector.type_description = access.type->name;

  DeltaQueueOptions& queue = settings.queue;
  queue.clock = reflector.clock;
  queue.log = reflector.log->named("queue");
  queue.queued = reflector.metrics->queued_items;
  if (reflector.metrics->probe) queue.lag = reflector.metrics->event_lag;
  if (queue.name.empty()) {
    queue.name = fmt::format(
        "{} {}", settings.queue_kind == QueueKind::kInOrder ? "InOrderQueue" : "DeltaFifo",
        reflector.type_description);
  }
  settings.indexer.clock = reflector.clock;
  settings.indexer.on_error = settings.on_error;
  return settings;
}

std::shared_ptr<DeltaQueueCore> make_queue(const InformerSettings& settings,
                                           const ObjectAccess& access,
                                           std::shared_ptr<IndexerCore> store) {
  if (settings.queue_kind == QueueKind::kInOrder) {
    return std::make_shared<InOrderQueueCore>(access, std::move(store), settings.queue);
  }
  return std::make_shared<DeltaFifoCore>(access, std::move(store), settings.queue);
}

std::function<void(const std::exception& error)> error_teller(const InformerSettings& settings,
                                                              CacheError::Place place) {
  if (!settings.on_error) return nullptr;
  return [on_error = settings.on_error, place, name = settings.reflector.type_description](
             const std::exception& error) { tell_error(on_error, place, name, {}, error); };
}

decltype(CacheControllerHooks::process) process_hook(DeltaProcessor& processor) {
  using Progress = CacheControllerHooks::Progress;
  return [&processor](std::vector<AnyDelta>& deltas, bool in_initial_list) {
    return processor.process(deltas, in_initial_list) ? Progress::kDone : Progress::kBlocked;
  };
}

decltype(CacheControllerHooks::go_on) go_on_hook(DeltaProcessor& processor) {
  return [&processor] { return processor.go_on(); };
}

}  // namespace kube::detail
