// SPDX-License-Identifier: Apache-2.0
#include "reflector_core.hpp"
#include "reflector_errors.hpp"
#include "reflector_parts.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

namespace {

/// Maximum number of events taken before they are passed on.
constexpr std::size_t kEventsAtOnce = 256;

/// Converts an ERROR event into an exception.
std::exception_ptr error_of(const AnyWatchEvent& event) {
  if (event.status) return std::make_exception_ptr(ApiError{*event.status});
  return std::make_exception_ptr(Error("unexpected object in an ERROR event"));
}

std::string describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown error";
  }
}

template <typename Test>
bool test(const std::exception_ptr& error, Test test) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return test(e);
  } catch (...) {
    return false;
  }
}

}  // namespace

ListOptions ReflectorCore::watch_options() {
  ListOptions options;
  options.resource_version = last_version();
  options.allow_watch_bookmarks = true;
  const auto least = std::chrono::duration<double>(options_.min_watch_timeout);
  options.timeout =
      std::chrono::seconds{static_cast<std::int64_t>(least.count() * (1 + options_.random()))};
  return options;
}

/// Called after a list, or after a streamed state, whose open watch is passed in.
void ReflectorCore::begin_watching(std::unique_ptr<AsyncWatch> watch) {
  clear_last_error();
  if (hooks_.resync_period > Clock::Duration::zero()) {
    const double stretch = 1 + options_.resync_jitter * options_.random();
    resync_at_ = options_.clock->now() +
                 std::chrono::duration_cast<Clock::Duration>(hooks_.resync_period * stretch);
  }
  if (watch == nullptr) {
    state_ = State::kOpeningWatch;
    return;
  }
  watching_ = std::make_unique<Watching>();
  watching_->operation = std::move(watch);
  watching_->start = options_.clock->now();
  state_ = State::kWatching;
}

Poll ReflectorCore::open_watch(const Poller& poller) {
  if (watching_ == nullptr) {
    auto watching = std::make_unique<Watching>();
    watching->options = watch_options();
    const std::string& from = watching->options.resource_version;
    watching->is_synthetic = from.empty() || from == "0";
    watching->start = options_.clock->now();
    watching_ = std::move(watching);
  }
  Watching& watching = *watching_;
  try {
    if (watching.operation == nullptr) {
      watching.operation =
          call_user("watch", [&] { return source_->start_watch(watching.options, poller); });
    }
    const Poll progress = call_user("watch", [&] { return watching.operation->poll_open(); });
    if (progress != Poll::kReady) return progress;
    options_.metrics->watches.add();
    clear_last_error();
    report({.kind = What::kWatching, .resource_version = watching.options.resource_version});
    state_ = State::kWatching;
  } catch (const std::exception& error) {
    open_failed(error);
  }
  return Poll::kReady;
}

/// Called while `error` is being handled. Throws ReflectorError if a new list is needed.
void ReflectorCore::open_failed(const std::exception& error) {
  if (is_end_of_stream(error)) return watch_ended(nullptr);
  report({.kind = What::kWatchFailed,
          .resource_version = watching_->options.resource_version,
          .message = error.what()});
  watching_.reset();
  if (!is_refused(error)) throw ReflectorError(error.what(), std::current_exception());
  back_off(State::kOpeningWatch);
}

/// Takes events until none is available, or the stream ends.
Poll ReflectorCore::watch() {
  Watching& watching = *watching_;
  std::exception_ptr failure;
  for (std::size_t taken = 0;; ++taken) {
    if (taken == kEventsAtOnce || target_.is_full()) return Poll::kMore;
    std::optional<AnyWatchEvent> event;
    bool has_ended = false;
    try {
      event = call_user("watch", [&] { return watching.operation->poll_next(); });
      has_ended = !event && watching.operation->has_ended();
    } catch (const std::exception& error) {
      if (!is_end_of_stream(error)) failure = std::current_exception();
      has_ended = true;
    }
    if (has_ended) break;
    if (!event) return Poll::kPending;
    count(event->type);
    if (event->type == EventType::kError) {
      failure = error_of(*event);
      break;
    }
    if (!take_event(*event)) {
      end_round();
      return Poll::kReady;
    }
  }
  watch_ended(failure);
  return Poll::kReady;
}

/// Applies an event. Returns false if the change would be lost: a new list delivers it again.
bool ReflectorCore::take_event(AnyWatchEvent& event) {
  const bool bookmark = event.type == EventType::kBookmark;
  if (const std::string why = bookmark && event.object ? std::string{} : unusable(event.object);
      !why.empty()) {
    reject(why);
    return true;
  }
  try {
    call_user("watch", [&] { put(event); });
  } catch (const std::exception& error) {
    options_.metrics->relists_after_rejected_event.add();
    report({.kind = What::kRejectedEvent,
            .resource_version = std::string{access_.resource_version(event.object.get())},
            .message = error.what()});
    return false;
  }
  ++watching_->events;
  if (event.type != EventType::kAdded) watching_->is_synthetic = false;
  const std::string_view version = access_.resource_version(event.object.get());
  if (!watching_->is_synthetic && !version.empty()) set_last_version(std::string{version});
  return true;
}

/// Puts an event into the store. Throws the exceptions of the transform and the store.
void ReflectorCore::put(const AnyWatchEvent& event) {
  switch (event.type) {
    case EventType::kAdded:
      target_.add(transformed(event.object));
      break;
    case EventType::kModified:
      target_.update(transformed(event.object));
      break;
    case EventType::kDeleted:
      target_.erase(transformed(event.object));
      break;
    case EventType::kBookmark:
      target_.bookmark(std::string{access_.resource_version(event.object.get())});
      break;
    case EventType::kError:
      break;
  }
}

/// Decides what to do after a watch that ended, with or without an error.
void ReflectorCore::watch_ended(const std::exception_ptr& error) {
  const Clock::Duration lived = options_.clock->now() - watching_->start;
  const std::size_t events = watching_->events;
  watching_.reset();  // before any pause
  options_.metrics->watch_duration.observe(std::chrono::duration<double>(lived).count());
  options_.metrics->items_per_watch.observe(static_cast<double>(events));
  ReflectorEvent event{.kind = What::kWatchClosed,
                       .resource_version = last_version(),
                       .items = events,
                       .duration = lived};
  if (!error && (lived >= 1s || events > 0)) {
    report(event);
    return pause_before_reconnect(lived, events, State::kOpeningWatch);
  }
  if (!error) {
    options_.metrics->short_watches.add();
    options_.metrics->relists_after_short_watch.add();
    event.kind = What::kVeryShortWatch;
    event.message = fmt::format(
        "very short watch: {}: Unexpected watch close - watch lasted less than a second and no "
        "items received",
        options_.name);
    report(event);
    return end_round();
  }
  event.message = describe(error);
  if (test(error, is_expired)) {
    options_.metrics->relists_after_expiry.add();
    event.kind = What::kWatchExpired;
    report(event);
    return end_round();
  }
  event.kind = What::kWatchFailed;
  report(event);
  if (test(error, is_throttled)) return back_off(State::kOpeningWatch);
  if (test(error, is_internal) && may_retry_internal_error()) {
    return pause_before_reconnect(lived, events, State::kOpeningWatch);
  }
  options_.metrics->relists_after_error.add();
  end_round();
}

bool ReflectorCore::may_retry_internal_error() {
  if (options_.max_internal_error_retry <= Clock::Duration::zero()) return false;
  const Clock::TimePoint now = options_.clock->now();
  if (!internal_error_first_ || now - internal_error_last_ >= 1min) internal_error_first_ = now;
  internal_error_last_ = now;
  if (now - *internal_error_first_ <= options_.max_internal_error_retry) return true;
  internal_error_first_.reset();
  return false;
}

}  // namespace kube::detail
