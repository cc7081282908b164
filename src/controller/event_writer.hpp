// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "event_call.hpp"

#include "client/rest_client.hpp"
#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/api/errors.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/engine/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace kube::detail {

inline constexpr int kEventTries = 12;
inline constexpr Clock::Duration kEventRetryPeriod = std::chrono::seconds{10};

struct EventWriterOptions {
  std::size_t queue_size = 1000;
  std::size_t writers = 1;  ///< maximum number of events sent concurrently
  Clock* clock = &system_clock();
  Logger log = {};
};

/// Sends the events of a recorder to its sink; with one writer in the order of push(). It is a job
/// on the threads of the sink's client, or of the shared Runtime if there is no client. Events
/// without a response are retried, up to twelve times.
///
/// Thread safety: push(), flush() and stop() from any thread. The virtual functions are called by
/// one thread at a time.
template <typename Event>
class EventWriter : public Job {
 public:
  /// An event to be sent.
  struct Outgoing {
    Event event;
    std::string patch = {};  ///< patch of an event that was sent before; empty: create it
    std::string key = {};    ///< for stored()
  };

  EventWriter(std::shared_ptr<EventSinkFor<Event>> sink, EventWriterOptions options)
      : Job(Placement::kLibrary),
        options_(std::move(options)),
        sink_(std::move(sink)),
        client_(sink_->client()),
        runtime_(client_ == nullptr ? shared_runtime() : Inside::core(*client_)->runtime()),
        log_(options_.log.named("events")),
        clock_(*options_.clock) {
    const std::shared_ptr<Scheduler>& scheduler = Inside::core(*runtime_);
    timer_.emplace(scheduler, clock_);
    if (client_ != nullptr) call_timer_.emplace(scheduler, *client_->options().clock);
    bind(scheduler);
  }

  /// Returns false, and drops the event, if the queue is full.
  [[nodiscard]] bool push(Event event) {
    {
      const std::lock_guard guard{mutex_};
      if (waiting_.size() >= options_.queue_size) return false;
      waiting_.push_back(std::move(event));
    }
    schedule();
    return true;
  }
  /// Waits until all events are sent or given up. Returns false if that takes longer than `limit`.
  [[nodiscard]] bool flush(Clock::Duration limit) {
    std::unique_lock lock{mutex_};
    return clock_.wait_until(lock, changed_, clock_.now() + limit, {},
                             [this] { return waiting_.empty() && in_work_ == 0; });
  }
  /// Call once. Drops unsent events, and returns when neither the sink nor the clock is used any
  /// more. On a thread of the Runtime, which the sink might need, it does not wait for a call of
  /// the sink.
  void stop() noexcept {
    stopping_ = true;
    schedule();
    Scheduler& scheduler = *Inside::core(*runtime_);
    if (!scheduler.workers().is_without_threads() && !scheduler.loop().is_here() &&
        !scheduler.workers().is_here()) {
      (void)ended_.wait({});
    } else {
      const std::lock_guard guard{running_};
      timer_.reset();
      call_timer_.reset();
    }
    runtime_.reset();  // otherwise a job in its own queue would keep it alive
  }

  [[nodiscard]] const Logger& log() const noexcept { return log_; }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }

 protected:
  /// Returns the call to make for `event`, if any.
  [[nodiscard]] virtual std::optional<Outgoing> prepare(Event event) = 0;
  virtual void stored(const Outgoing& sent, const Event& stored) = 0;
  /// Returns whether an event that the server rejected is to be retried.
  [[nodiscard]] virtual bool is_passing(const Outgoing& sent, const ApiError& error) = 0;
  [[nodiscard]] virtual Clock::Duration delay(int tries) = 0;
  /// Does periodic work, and returns when it is due next.
  [[nodiscard]] virtual Clock::TimePoint tick() { return Clock::TimePoint::max(); }

 private:
  struct Sending {
    explicit Sending(Outgoing outgoing) : what(std::move(outgoing)) {}

    Outgoing what;
    int tries = 0;
    std::optional<EventCall<Event>> call = std::nullopt;  // none while it waits for `retry_at`
    bool creates = false;
    Clock::TimePoint retry_at = Clock::TimePoint::min();
  };

  void run() noexcept override {
    const std::lock_guard guard{running_};
    if (stopping_) return end();
    const Clock::TimePoint next = attempt("series of events cannot be written", [this] {
                                    return tick();
                                  }).value_or(clock_.now() + kEventRetryPeriod);
    bool goes_on = false;
    for (auto at = sending_.begin(); at != sending_.end();) {
      const bool ended = poll(*at);
      goes_on = goes_on || ended;
      at = ended ? sending_.erase(at) : std::next(at);
      if (ended) done();
    }
    while (sending_.size() < options_.writers && begin_next()) goes_on = true;
    if (goes_on) return schedule();
    set_timers(next);
  }

  void set_timers(Clock::TimePoint next) noexcept {
    Clock::TimePoint call = Clock::TimePoint::max();
    for (const Sending& each : sending_) {
      if (each.call) {
        call = std::min(call, each.call->wake_at());
      } else {
        next = std::min(next, each.retry_at);
      }
    }
    timer_->set(next, weak_from_this());
    if (call_timer_) call_timer_->set(call, weak_from_this());
  }

  /// Calls `work`. If it throws, logs the exception and returns nothing.
  template <typename Work>
  auto attempt(const char* what, const Work& work) noexcept -> std::optional<decltype(work())> {
    try {
      return work();
    } catch (const std::exception& error) {
      log_.error("{}: {}", what, error.what());
    } catch (...) {
      log_.error("{}: an exception that is not a std::exception was thrown", what);
    }
    return std::nullopt;
  }

  /// Returns false if no event is waiting.
  bool begin_next() noexcept {
    std::optional<Event> event;
    {
      const std::lock_guard guard{mutex_};
      if (waiting_.empty()) return false;
      event.emplace(std::move(waiting_.front()));
      waiting_.pop_front();
      ++in_work_;
    }
    const auto begun = attempt("an event is lost", [&] {
      std::optional<Outgoing> what = prepare(std::move(*event));
      if (what) sending_.emplace_back(std::move(*what));
      return what.has_value();
    });
    if (!begun.value_or(false)) done();
    return true;
  }
  void done() noexcept {
    {
      const std::lock_guard guard{mutex_};
      --in_work_;
    }
    changed_.notify_all();
  }

  /// Continues with an event. Returns true if it has been sent or given up.
  bool poll(Sending& sending) noexcept {
    if (!sending.call && clock_.now() < sending.retry_at) return false;
    try {
      if (!sending.call) begin_try(sending);
      const std::optional<Event> result = sending.call->poll();
      if (!result) return false;
      stored(sending.what, *result);
      return true;
    } catch (const ApiError& error) {
      if (!sending.creates && is_not_found(error)) return !restart(sending);
      if (!is_passing(sending.what, error)) {
        log_.error("the server refuses an event: {}", error.what());
        return true;
      }
    } catch (const Error& error) {
      log_.warning("cannot send an event, try {} of {}: {}", sending.tries, kEventTries,
                   error.what());
    } catch (const std::exception& error) {
      log_.error("cannot send an event: {}", error.what());
      return true;
    } catch (...) {
      log_.error("cannot send an event: the sink threw an exception that is not a std::exception");
      return true;
    }
    sending.call.reset();
    if (sending.tries == kEventTries) {
      log_.error("an event is lost after {} tries", sending.tries);
      return true;
    }
    const auto pause = attempt("an event is lost", [&] { return delay(sending.tries); });
    sending.retry_at = clock_.now() + pause.value_or(kEventRetryPeriod);
    return false;
  }

  /// Patches the event if there is a patch, and creates it otherwise.
  void begin_try(Sending& sending) {
    ++sending.tries;
    sending.creates = sending.what.patch.empty();
    start_call(sending, sending.what.patch);
  }
  void start_call(Sending& sending, const std::string& patch) {
    if (patch.empty()) sending.what.event.metadata.resource_version = {};
    const Poller poller{.waker = this->weak_from_this(), .scheduler = scheduler()};
    sending.call.emplace(sink_, client_, sending.what.event, patch, poller);
  }
  /// The event to patch does not exist any more: creates it, in the same try. Returns false if that
  /// is not possible.
  bool restart(Sending& sending) noexcept {
    return attempt("an event is lost",
                   [&] {
                     sending.creates = true;
                     start_call(sending, {});
                     schedule();
                     return true;
                   })
        .value_or(false);
  }

  void end() noexcept {
    if (ended_.done()) return;
    for (auto at = sending_.begin(); at != sending_.end();) {
      bool calls = at->call && at->call->cancel();
      if (calls) {
        try {
          calls = !at->call->poll().has_value();
        } catch (...) {
          calls = false;
        }
      }
      at = calls ? std::next(at) : sending_.erase(at);
    }
    if (!sending_.empty()) return;
    timer_.reset();
    call_timer_.reset();
    ended_.fire();
  }

  const EventWriterOptions options_;
  const std::shared_ptr<EventSinkFor<Event>> sink_;
  const Client* const client_;        // client of the sink, or null
  std::shared_ptr<Runtime> runtime_;  // until stop()
  const Logger log_;
  Clock& clock_;
  const DoneSignal ended_;
  std::atomic<bool> stopping_ = false;

  std::mutex running_;  // held by run()
  // Guarded by running_:
  std::list<Sending> sending_;
  std::optional<Timer> timer_;       // by the clock of the recorder
  std::optional<Timer> call_timer_;  // by the clock of the client

  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::deque<Event> waiting_;
  std::size_t in_work_ = 0;
};

}  // namespace kube::detail
