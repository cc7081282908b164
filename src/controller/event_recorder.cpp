// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_recorder.hpp>

#include "event_writer.hpp"

#include <utility>

namespace kube {

class EventRecorder::Writer final : public detail::EventWriter<core::v1::Event> {
 public:
  Writer(std::shared_ptr<EventSink> sink, const EventRecorderOptions& options)
      : EventWriter(std::move(sink),
                    {.queue_size = options.queue_size, .clock = options.clock, .log = options.log}),
        random_(options.random),
        correlator_(clock(), options.correlation) {}

 private:
  std::optional<Outgoing> prepare(core::v1::Event event) override {
    auto result = correlator_.correlate(std::move(event));
    if (!result) return std::nullopt;
    return Outgoing{.event = std::move(result->event),
                    .patch = std::move(result->patch),
                    .key = std::move(result->key)};
  }
  void stored(const Outgoing& sent, const core::v1::Event& stored) override {
    correlator_.stored(sent.key, stored);
  }
  bool is_passing(const Outgoing& /*sent*/, const ApiError& /*error*/) override { return false; }
  Clock::Duration delay(int tries) override {
    // The first pause is a random part of the period, so that programs that lost the server
    // together do not retry together.
    if (tries > 1) return detail::kEventRetryPeriod;
    return std::chrono::duration_cast<Clock::Duration>(detail::kEventRetryPeriod * random_());
  }

  const Random random_;
  EventCorrelator correlator_;
};

EventRecorder::EventRecorder(std::shared_ptr<EventSink> sink, EventRecorderOptions options)
    : options_(std::move(options)), writer_(std::make_shared<Writer>(std::move(sink), options_)) {}

EventRecorder::~EventRecorder() { writer_->stop(); }

void EventRecorder::record(const core::v1::ObjectReference& object, std::string_view type,
                           std::string_view reason, std::string_view message) {
  if (!detail::is_event_type(type)) {
    return writer_->log().error("events have the type Normal or Warning, not \"{}\"", type);
  }
  const Clock::WallTime now = writer_->clock().wall_now();
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
  if (!writer_->push(std::move(event))) {
    writer_->log().warning("too many events are waiting; {} of {} {} is dropped", reason,
                           object.kind.view(), object.name.view());
  }
}

bool EventRecorder::flush(Clock::Duration limit) { return writer_->flush(limit); }

}  // namespace kube
