// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/events_v1_recorder.hpp>

#include <kube/base/backoff.hpp>

#include "event_writer.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace kube {
namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;
constexpr Clock::Duration kRefreshPeriod = std::chrono::minutes{30};
constexpr Clock::Duration kSweepPeriod = std::chrono::minutes{6};

/// Truncates `text` to at most `size` bytes, without splitting a UTF-8 character.
std::string_view cut(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

bool is_word(std::string_view text) { return !text.empty() && text.size() <= kMaxWord; }

}  // namespace

class EventsV1Recorder::Writer final : public detail::EventWriter<events::v1::Event> {
 public:
  Writer(std::shared_ptr<EventsV1Sink> sink, const EventsV1RecorderOptions& options)
      : EventWriter(std::move(sink), {.queue_size = options.queue_size,
                                      .writers = options.writers,
                                      .clock = options.clock,
                                      .log = options.log}),
        delay_({.initial = detail::kEventRetryPeriod, .jitter = 0.25, .random = options.random}),
        refresh_at_(clock().now() + kRefreshPeriod),
        sweep_at_(clock().now() + kSweepPeriod) {}

  /// Sends `event` now or, as part of its series, later.
  void observe(events::v1::Event event) {
    std::optional<events::v1::Event> to_send;
    {
      const std::lock_guard guard{mutex_};
      to_send = tracker_.observe(std::move(event));
    }
    if (to_send) enqueue(std::move(*to_send));
  }

 private:
  std::optional<Outgoing> prepare(events::v1::Event event) override {
    std::string patch = event.series ? series_patch(event) : "";
    return Outgoing{.event = std::move(event), .patch = std::move(patch)};
  }
  void stored(const Outgoing& sent, const events::v1::Event& stored) override {
    const std::lock_guard guard{mutex_};
    tracker_.stored(sent.event, stored);
  }
  /// A series that another process created in between can be patched by the next try.
  bool is_passing(const Outgoing& sent, const ApiError& error) override {
    return sent.event.series.has_value() && is_already_exists(error);
  }
  Clock::Duration delay(int /*tries*/) override { return delay_.next(clock().now()); }

  Clock::TimePoint tick() override {
    const Clock::TimePoint now = clock().now();
    const bool refreshes = now >= refresh_at_;
    const bool sweeps = now >= sweep_at_;
    if (refreshes) refresh_at_ = now + kRefreshPeriod;
    if (sweeps) sweep_at_ = now + kSweepPeriod;
    if (sweeps || refreshes) write_series(sweeps, refreshes);
    return std::min(refresh_at_, sweep_at_);
  }
  /// Enqueues the current counts of series: of those that have ended, and of those that continue.
  void write_series(bool ended, bool running) {
    std::vector<events::v1::Event> to_send;
    {
      const std::lock_guard guard{mutex_};
      if (ended) to_send = tracker_.finish(clock().wall_now());
      if (running) {
        for (events::v1::Event& event : tracker_.running()) to_send.push_back(std::move(event));
      }
    }
    for (events::v1::Event& event : to_send) enqueue(std::move(event));
  }
  void enqueue(events::v1::Event event) {
    const std::string name = event.metadata.name.str();
    if (!push(std::move(event))) log().warning("too many events are waiting; {} is dropped", name);
  }

  Backoff delay_;
  Clock::TimePoint refresh_at_;
  Clock::TimePoint sweep_at_;
  std::mutex mutex_;
  EventSeriesTracker tracker_;  // guarded by mutex_
};

EventsV1Recorder::EventsV1Recorder(std::shared_ptr<EventsV1Sink> sink,
                                   EventsV1RecorderOptions options)
    : options_(std::move(options)),
      instance_(cut(options_.controller + "-" + options_.host, kMaxWord)),
      writer_(std::make_shared<Writer>(std::move(sink), options_)) {
  writer_->schedule();  // sets the writer's timer
}

EventsV1Recorder::~EventsV1Recorder() { writer_->stop(); }

void EventsV1Recorder::record(const core::v1::ObjectReference& regarding, const EventNote& note,
                              const core::v1::ObjectReference* related) {
  if (!detail::is_event_type(note.type) || !is_word(note.reason) || !is_word(note.action)) {
    return writer_->log().error(
        "an event of type \"{}\" with reason \"{}\" and action \"{}\" is dropped: the server would "
        "reject it",
        note.type, cut(note.reason, kMaxWord), cut(note.action, kMaxWord));
  }
  const Clock::WallTime now = writer_->clock().wall_now();
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
  writer_->observe(std::move(event));
}

bool EventsV1Recorder::flush(Clock::Duration limit) { return writer_->flush(limit); }

}  // namespace kube
