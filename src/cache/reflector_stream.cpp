// SPDX-License-Identifier: Apache-2.0
#include "reflector_core.hpp"
#include "reflector_errors.hpp"
#include "reflector_parts.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

namespace {

constexpr auto kSlow = 10s;
constexpr std::size_t kEventsAtOnce = 256;
constexpr std::size_t kBytesAtOnce = std::size_t{256} << 10;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

bool checks_by_default() {
  static const bool kOn = [] {
    const char* text = std::getenv("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR");
    const std::string_view value = text == nullptr ? "" : text;
    return value == "true" || value == "1" || value == "t" || value == "T" || value == "TRUE" ||
           value == "True";
  }();
  return kOn;
}

}  // namespace

void ReflectorCore::Streaming::add(StoreChange change) {
  changes.push_back(std::move(change));
  if (changes.size() >= 512) flush();
}

void ReflectorCore::Streaming::flush() {
  std::vector<StoreResult> results;
  arriving.apply(changes, results);
  changes.clear();
}

std::vector<ObjectRef> ReflectorCore::Streaming::objects() {
  flush();
  std::vector<ObjectRef> all;
  const StoreSnapshot snapshot = arriving.snapshot();
  all.reserve(snapshot.size());
  snapshot.for_each([&](const ObjectRef& object) {
    all.push_back(object);
    return true;
  });
  return all;
}

/// Opens a watch that begins with the existing objects (WatchList) and continues as a normal watch.
Poll ReflectorCore::open_state(const Poller& poller) {
  if (streaming_ == nullptr) {
    auto streaming = std::make_unique<Streaming>(access_);
    ListOptions& options = streaming->options;
    options = watch_options();
    if (version_unavailable_) options.resource_version.clear();
    options.resource_version_match = "NotOlderThan";
    options.send_initial_events = true;
    streaming->start = streaming->last_event = options_.clock->now();
    warn_at_ = streaming->start + kSlow;
    streaming_ = std::move(streaming);
  }
  Streaming& streaming = *streaming_;
  try {
    if (streaming.operation == nullptr) {
      streaming.operation =
          call_user("watch", [&] { return source_->start_watch(streaming.options, poller); });
    }
    const Poll progress = call_user("watch", [&] { return streaming.operation->poll_open(); });
    if (progress != Poll::kReady) return progress;
    options_.metrics->watches.add();
    report({.kind = What::kStreamingState, .resource_version = streaming.options.resource_version});
    state_ = State::kStreamingState;
  } catch (const std::exception& error) {
    state_failed(error);
  }
  return Poll::kReady;
}

Poll ReflectorCore::stream_state() {
  Streaming& streaming = *streaming_;
  try {
    for (std::size_t taken = 0; !streaming.is_complete; ++taken) {
      if (taken == kEventsAtOnce) return Poll::kMore;
      std::optional<AnyWatchEvent> event;
      bool has_ended = false;
      try {
        event = call_user("watch", [&] { return streaming.operation->poll_next(); });
        has_ended = !event && streaming.operation->has_ended();
      } catch (const std::exception& error) {
        if (!is_end_of_stream(error)) throw;
        has_ended = true;
      }
      if (has_ended) {
        state_cut_off();
        return Poll::kReady;
      }
      if (!event) return Poll::kPending;
      take_state(*event);
    }
  } catch (const ReflectorError&) {
    throw;
  } catch (const std::exception& error) {
    state_failed(error);
    return Poll::kReady;
  }
  state_complete();
  return Poll::kReady;
}

void ReflectorCore::take_state(AnyWatchEvent& event) {
  Streaming& streaming = *streaming_;
  count(event.type);
  if (event.type == EventType::kError) {
    if (event.status) throw ApiError{*event.status};
    throw Error("unexpected object in an ERROR event");
  }
  streaming.last_event = options_.clock->now();
  streaming.any_event = true;
  if (event.type == EventType::kBookmark && event.object) {
    ++streaming.events;
    streaming.is_complete = access_.annotation(event.object.get(), kInitialEventsEnd) == "true";
    if (streaming.is_complete) streaming.version = access_.resource_version(event.object.get());
    return;
  }
  if (const std::string why = unusable(event.object); !why.empty()) return reject(why);
  ++streaming.events;
  if (event.type == EventType::kDeleted) {
    streaming.add({.object = std::move(event.object), .erase = true});
    return;
  }
  try {
    streaming.add({.object = prepare(std::move(event.object))});
  } catch (const std::exception& error) {
    throw ReflectorError(fmt::format("unable to sync list result: {}", error.what()),
                         std::current_exception());
  }
}

/// Handles a stream that ended before the state was complete.
void ReflectorCore::state_cut_off() {
  const Clock::Duration lived = options_.clock->now() - streaming_->start;
  const std::size_t events = streaming_->events;
  if (lived < 1s && events == 0) {
    options_.metrics->short_watches.add();
    throw Error(fmt::format(
        "very short watch: {}: Unexpected watch close - watch lasted less than a second and "
        "no items received",
        options_.name));
  }
  report({.kind = What::kStateRestarted, .items = events, .duration = lived});
  options_.log->warning("{}: the stream of the initial state of {} ended after {} events, retrying",
                        options_.name, options_.type_description, events);
  streaming_.reset();
  warn_at_ = Clock::TimePoint::max();
  pause_before_reconnect(lived, 0, State::kOpeningState);  // all objects have to be sent again
}

/// Decides what to do after a failure: repeat the request, or fall back to a list.
void ReflectorCore::state_failed(const std::exception& error) {
  const std::string version = streaming_->options.resource_version;
  streaming_.reset();
  warn_at_ = Clock::TimePoint::max();
  const bool unavailable = is_expired(error) || is_too_large_version(error);
  const bool again = unavailable || is_refused(error);
  report({.kind = again ? What::kStateRestarted : What::kFellBackToList,
          .resource_version = version,
          .message = error.what()});
  if (!again) {
    options_.metrics->watch_list_fallbacks.add();
    return start_list();
  }
  if (unavailable) {
    version_unavailable_ = true;
  } else {
    options_.log->warning("{}: cannot list and watch {}, retrying: {}", options_.name,
                          options_.type_description, error.what());
  }
  // No pause if the next request is a different one.
  if (unavailable && !version.empty()) {
    state_ = State::kOpeningState;
  } else {
    back_off(State::kOpeningState);
  }
}

void ReflectorCore::state_complete() {
  std::vector<ObjectRef> items = streaming_->objects();
  warn_at_ = Clock::TimePoint::max();
  version_unavailable_ = false;
  if (options_.check_consistency.value_or(checks_by_default()) && streaming_->version != "0") {
    checking_ = std::make_unique<Checking>();
    checking_->items = std::move(items);
    state_ = State::kChecking;
  } else {
    accept_state(std::move(items));
  }
}

void ReflectorCore::accept_state(std::vector<ObjectRef> items) {
  const std::unique_ptr<Streaming> streaming = std::move(streaming_);
  const std::size_t count = items.size();
  store(std::move(items), streaming->version);
  const Clock::Duration took = options_.clock->now() - streaming->start;
  if (took > kSlow) {
    options_.log->info("{}: slow initial state of {}: {} objects after {} ms", options_.name,
                       options_.type_description, count, took / 1ms);
  }
  report({.kind = What::kStateStreamed,
          .resource_version = streaming->version,
          .items = count,
          .duration = took});
  begin_watching(std::move(streaming->operation));
}

/// Compares a streamed state with a list of the same version.
Poll ReflectorCore::check(const Poller& poller) {
  Checking& checking = *checking_;
  try {
    if (checking.operation == nullptr) {
      checking.listed.clear();
      ListOptions options;
      options.resource_version = streaming_->version;
      options.resource_version_match = "Exact";
      checking.operation = call_user("list", [&] { return source_->start_list(options, poller); });
    }
    const Poll progress = call_user("list", [&] {
      return checking.operation->poll(
          [&](ObjectRef object) { checking.listed.push_back(transformed(std::move(object))); },
          kBytesAtOnce);
    });
    if (progress != Poll::kReady) return progress;
  } catch (const std::exception& error) {
    options_.log->warning("{}: cannot check the state of {}: {}", options_.name,
                          options_.type_description, error.what());
    checking.operation.reset();
    pause_until(options_.clock->now() + 1s, State::kChecking);
    return Poll::kReady;
  }
  const std::unique_ptr<Checking> checked = std::move(checking_);
  if (is_same_state(checked->items, std::move(checked->listed))) {
    accept_state(std::move(checked->items));
  } else {
    streaming_.reset();
    start_list();  // stores the correct state
  }
  return Poll::kReady;
}

bool ReflectorCore::is_same_state(std::vector<ObjectRef> streamed, std::vector<ObjectRef> listed) {
  const auto order = [&](const ObjectRef& a, const ObjectRef& b) {
    const std::string_view a_uid = access_.uid(a.get());
    const std::string_view b_uid = access_.uid(b.get());
    return a_uid != b_uid ? a_uid < b_uid : access_.key(a.get()) < access_.key(b.get());
  };
  std::sort(listed.begin(), listed.end(), order);
  std::sort(streamed.begin(), streamed.end(), order);
  const bool same = std::equal(
      listed.begin(), listed.end(), streamed.begin(), streamed.end(),
      [&](const ObjectRef& a, const ObjectRef& b) { return access_.equal(a.get(), b.get()); });
  if (!same) {
    report({.kind = What::kInconsistent,
            .resource_version = streaming_->version,
            .items = streamed.size(),
            .message = fmt::format("{} objects were streamed, {} listed at the same version",
                                   streamed.size(), listed.size())});
  }
  return same;
}

}  // namespace kube::detail
