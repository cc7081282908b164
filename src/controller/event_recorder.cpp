// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_recorder.hpp>

#include "event_delivery.hpp"

#include <utility>

namespace kube {

EventRecorder::EventRecorder(std::shared_ptr<EventSink> sink, EventRecorderOptions options)
    : sink_(std::move(sink)),
      options_(std::move(options)),
      log_(options_.log.named("events")),
      clock_(*options_.clock),
      correlator_(clock_, options_.correlation),
      queue_(options_.queue_size),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

void EventRecorder::record(const core::v1::ObjectReference& object, std::string_view type,
                           std::string_view reason, std::string_view message) {
  if (!detail::is_event_type(type)) {
    return log_.error("events have the type Normal or Warning, not \"{}\"", type);
  }
  const Clock::WallTime now = clock_.wall_now();
  core::v1::Event event{.involved_object = object,
                        .reason = reason,
                        .message = message,
                        .source = {.component = options_.component, .host = options_.host},
                        .first_timestamp = now,
                        .last_timestamp = now,
                        .count = 1,
                        .type = type,
                        .reporting_component = options_.component,
                        .reporting_instance = options_.host};
  event.metadata.name = detail::event_name(object.name, now);
  event.metadata.namespace_ = object.namespace_.empty() ? "default" : object.namespace_.view();
  if (!queue_.push(std::move(event))) {
    log_.warning("too many events wait; {} of {} {} is dropped", reason, object.kind.view(),
                 object.name.view());
  }
}

bool EventRecorder::flush(Clock::Duration limit) {
  return queue_.wait_until_done(clock_, clock_.now() + limit);
}

void EventRecorder::run(std::stop_token stop) {
  while (auto event = queue_.pop(stop)) {
    detail::report_failure(log_, "an event is lost", [&] { send(std::move(*event), stop); });
    queue_.done();
  }
}

void EventRecorder::send(core::v1::Event event, std::stop_token stop) {
  const auto result = correlator_.correlate(std::move(event));
  if (!result) return;
  detail::deliver_event(
      [&] {
        correlator_.stored(result->key,
                           detail::send_event(*sink_, result->event, result->patch, stop));
      },
      [](const ApiError&) { return false; },
      [&](int tries) {
        // At first a part of the period, so that programs that were cut off together do not come back together.
        return tries > 1 ? detail::kEventRetryPeriod
                         : std::chrono::duration_cast<Clock::Duration>(detail::kEventRetryPeriod *
                                                                       options_.random());
      },
      clock_, log_, stop);
}

}  // namespace kube
