// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/events_v1_recorder.hpp>

#include <kube/base/backoff.hpp>

#include "event_delivery.hpp"

#include <algorithm>
#include <utility>

namespace kube {
namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;
constexpr Clock::Duration kRefreshPeriod = std::chrono::minutes{30};
constexpr Clock::Duration kSweepPeriod = std::chrono::minutes{6};

/// At most `size` bytes of `text`, without a part of a character at the end.
std::string_view cut(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

bool is_word(std::string_view text) { return !text.empty() && text.size() <= kMaxWord; }

}  // namespace

EventsV1Recorder::EventsV1Recorder(std::shared_ptr<EventsV1Sink> sink,
                                   EventsV1RecorderOptions options)
    : sink_(std::move(sink)),
      options_(std::move(options)),
      instance_(cut(options_.controller + "-" + options_.host, kMaxWord)),
      log_(options_.log.named("events")),
      clock_(*options_.clock),
      queue_(options_.queue_size) {
  threads_.emplace_back([this](std::stop_token stop) { run_sweeper(std::move(stop)); });
  for (std::size_t i = 0; i < options_.writers; ++i) {
    threads_.emplace_back([this](std::stop_token stop) { run_writer(std::move(stop)); });
  }
}

void EventsV1Recorder::record(const core::v1::ObjectReference& regarding, const EventNote& note,
                              const core::v1::ObjectReference* related) {
  if (!detail::is_event_type(note.type) || !is_word(note.reason) || !is_word(note.action)) {
    return log_.error(
        "an event of type \"{}\" with reason \"{}\" and action \"{}\" would be refused", note.type,
        cut(note.reason, kMaxWord), cut(note.action, kMaxWord));
  }
  const Clock::WallTime now = clock_.wall_now();
  events::v1::Event event{.event_time = now,
                          .reporting_controller = options_.controller,
                          .reporting_instance = instance_,
                          .action = note.action,
                          .reason = note.reason,
                          .regarding = regarding,
                          .note = cut(note.note, kMaxNote),
                          .type = note.type};
  if (related != nullptr) event.related = *related;
  event.metadata.name = detail::event_name(regarding.name, now);
  event.metadata.namespace_ =
      regarding.namespace_.empty() ? "default" : regarding.namespace_.view();

  std::optional<events::v1::Event> to_send;
  {
    const std::lock_guard guard{mutex_};
    to_send = tracker_.observe(std::move(event));
  }
  if (to_send) enqueue(std::move(*to_send));
}

bool EventsV1Recorder::flush(Clock::Duration limit) {
  return queue_.wait_until_done(clock_, clock_.now() + limit);
}

void EventsV1Recorder::enqueue(events::v1::Event event) {
  const std::string name = event.metadata.name.str();
  if (!queue_.push(std::move(event))) log_.warning("too many events wait; {} is dropped", name);
}

void EventsV1Recorder::run_sweeper(std::stop_token stop) {
  Clock::TimePoint refresh_at = clock_.now() + kRefreshPeriod;
  Clock::TimePoint sweep_at = clock_.now() + kSweepPeriod;
  while (clock_.sleep_until(std::min(refresh_at, sweep_at), stop)) {
    const Clock::TimePoint now = clock_.now();
    const bool refreshes = now >= refresh_at;
    const bool sweeps = now >= sweep_at;
    if (refreshes) refresh_at = now + kRefreshPeriod;
    if (sweeps) sweep_at = now + kSweepPeriod;
    detail::report_failure(log_, "series of events cannot be written",
                           [&] { write_series(sweeps, refreshes); });
  }
}

void EventsV1Recorder::write_series(bool ended, bool running) {
  std::vector<events::v1::Event> to_send;
  {
    const std::lock_guard guard{mutex_};
    if (ended) to_send = tracker_.finish(clock_.wall_now());
    if (running) {
      for (events::v1::Event& event : tracker_.running()) to_send.push_back(std::move(event));
    }
  }
  for (events::v1::Event& event : to_send) enqueue(std::move(event));
}

void EventsV1Recorder::run_writer(std::stop_token stop) {
  while (auto event = queue_.pop(stop)) {
    detail::report_failure(log_, "an event is lost", [&] { send(*event, stop); });
    queue_.done();
  }
}

void EventsV1Recorder::send(const events::v1::Event& event, std::stop_token stop) {
  const bool is_series = event.series.has_value();
  Backoff delay{{.initial = detail::kEventRetryPeriod, .jitter = 0.25, .random = options_.random}};
  detail::deliver_event(
      [&] {
        const events::v1::Event stored =
            detail::send_event(*sink_, event, is_series ? series_patch(event) : "", stop);
        const std::lock_guard guard{mutex_};
        tracker_.stored(event, stored);
      },
      // A series that was created by somebody else in between can be patched the next time.
      [&](const ApiError& error) { return is_series && is_already_exists(error); },
      [&](int) { return delay.next(clock_.now()); }, clock_, log_, stop);
}

}  // namespace kube
