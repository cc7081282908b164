// SPDX-License-Identifier: Apache-2.0
#include "reflector_errors.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>
#include <kube/cache/reflector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

namespace {

/// An ERROR event as something to throw.
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

/// Null if the watch shall be tried again, or a stop was requested. Throws ReflectorError.
std::unique_ptr<AnyWatchStream> ReflectorCore::open_watch(std::stop_token stop) {
  const ListOptions options = watch_options();
  try {
    auto stream = call_user("watch", [&] { return source_->watch(options, stop); });
    options_.metrics.watches.add();
    {
      const std::lock_guard guard{mutex_};
      last_error_.clear();
    }
    report({.kind = What::kWatching, .resource_version = options.resource_version});
    return stream;
  } catch (const std::exception& error) {
    if (stop.stop_requested() || is_end_of_stream(error)) return nullptr;
    report({.kind = What::kWatchFailed,
            .resource_version = options.resource_version,
            .message = error.what()});
    if (is_refused(error)) {
      (void)back_off(stop);
      throw;
    }
    throw ReflectorError(error.what(), std::current_exception());
  }
}

void ReflectorCore::watch(std::unique_ptr<AnyWatchStream> stream, std::stop_token stop) {
  struct TurnOff {
    ReflectorCore& reflector;
    ~TurnOff() { reflector.move_timers(Clock::TimePoint::max(), Clock::TimePoint::max()); }
  } turn_off{*this};
  if (hooks_.resync_period > Clock::Duration::zero()) {
    const double stretch = 1 + options_.resync_jitter * options_.random();
    move_timers(options_.clock->now() +
                    std::chrono::duration_cast<Clock::Duration>(hooks_.resync_period * stretch),
                Clock::TimePoint::max());
  }
  Next next = Next::kWatchAgain;
  while (next == Next::kWatchAgain && !stop.stop_requested()) {
    const Clock::TimePoint start = options_.clock->now();
    bool synthetic = false;
    if (stream == nullptr) {
      const std::string from = last_version();
      synthetic = from.empty() || from == "0";
      try {
        stream = open_watch(stop);
      } catch (const ReflectorError&) {
        throw;
      } catch (const std::exception&) {
        continue;  // refused: open_watch() has waited
      }
    }
    if (stream == nullptr) {
      next = watch_ended(nullptr, 0, options_.clock->now() - start, stop);
    } else {
      next = follow(std::move(stream), synthetic, start, stop);
    }
  }
}

/// Takes events until the stream ends.
ReflectorCore::Next ReflectorCore::follow(std::unique_ptr<AnyWatchStream> stream, bool synthetic,
                                          Clock::TimePoint start, std::stop_token stop) {
  struct Hold {
    ReflectorTarget& target;
    bool on = false;
    void set(bool now) {
      if (std::exchange(on, now) != now) target.hold(now);
    }
    ~Hold() {
      try {
        set(false);
      } catch (...) {  // NOLINT(bugprone-empty-catch): the target has its own reasons
      }
    }
  } hold{target_};
  std::size_t events = 0;
  std::exception_ptr ended;
  for (;;) {
    std::optional<AnyWatchEvent> event;
    try {
      event = call_user("watch", [&] {
        if (!stream->has_next()) hold.set(false);
        return stream->next(stop);
      });
    } catch (const std::exception& error) {
      if (!is_end_of_stream(error)) ended = std::current_exception();
    }
    if (stop.stop_requested()) return Next::kStopped;
    if (!event) break;
    count(event->type);
    if (event->type == EventType::kError) {
      ended = error_of(*event);
      break;
    }
    const bool bookmark = event->type == EventType::kBookmark;
    if (const std::string why = bookmark && event->object ? std::string{} : unusable(event->object);
        !why.empty()) {
      options_.metrics.rejected_objects.add();
      report({.kind = What::kRejectedObject, .message = why});
      continue;
    }
    try {
      call_user("watch", [&] {
        if (stream->has_next()) hold.set(true);
        take(*event);
      });
    } catch (const std::exception& error) {
      if (stop.stop_requested()) return Next::kStopped;
      // Going on would lose the change for ever: a new list brings it again.
      options_.metrics.relists_after_rejected_event.add();
      report({.kind = What::kRejectedEvent,
              .resource_version = std::string{access_.resource_version(event->object.get())},
              .message = error.what()});
      return Next::kRelist;
    }
    ++events;
    // Before the first change, events tell what exists, in any order.
    if (event->type != EventType::kAdded) synthetic = false;
    const std::string_view version = access_.resource_version(event->object.get());
    if (!synthetic && !version.empty()) set_last_version(std::string{version});
  }
  stream.reset();  // before any pause
  return watch_ended(ended, events, options_.clock->now() - start, std::move(stop));
}

/// Puts an event into the store. Throws what the transform or the store throws.
void ReflectorCore::take(const AnyWatchEvent& event) {
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

/// What to do after a watch that ended, with an error or without.
ReflectorCore::Next ReflectorCore::watch_ended(const std::exception_ptr& error, std::size_t events,
                                               Clock::Duration lived, std::stop_token stop) {
  options_.metrics.watch_duration.observe(std::chrono::duration<double>(lived).count());
  options_.metrics.items_per_watch.observe(static_cast<double>(events));
  ReflectorEvent event{.kind = What::kWatchClosed,
                       .resource_version = last_version(),
                       .items = events,
                       .duration = lived};
  if (stop.stop_requested()) return Next::kStopped;
  if (!error) {
    if (lived < 1s && events == 0) {
      options_.metrics.short_watches.add();
      options_.metrics.relists_after_short_watch.add();
      event.kind = What::kVeryShortWatch;
      event.message = fmt::format(
          "very short watch: {}: Unexpected watch close - watch lasted less than a second and no "
          "items received",
          options_.name);
      report(std::move(event));
      return Next::kRelist;
    }
    report(std::move(event));
    return pause_before_reconnect(lived, events, stop) ? Next::kWatchAgain : Next::kStopped;
  }
  event.message = describe(error);
  if (test(error, is_expired)) {
    options_.metrics.relists_after_expiry.add();
    event.kind = What::kWatchExpired;
    report(std::move(event));
    return Next::kRelist;
  }
  event.kind = What::kWatchFailed;
  report(std::move(event));
  if (test(error, is_throttled)) return back_off(stop) ? Next::kWatchAgain : Next::kStopped;
  if (test(error, is_internal) && may_retry_internal_error()) {
    return pause_before_reconnect(lived, events, stop) ? Next::kWatchAgain : Next::kStopped;
  }
  options_.metrics.relists_after_error.add();
  return Next::kRelist;
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
