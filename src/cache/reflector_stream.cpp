// SPDX-License-Identifier: Apache-2.0
#include "reflector_errors.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>
#include <kube/cache/reflector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kube::detail {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

namespace {

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

/// The objects of a state that is still arriving. Changes are applied in bunches.
class Arriving {
 public:
  explicit Arriving(const ObjectAccess& access)
      : store_(access, {.label_index = false, .namespace_index = false}) {}

  void add(StoreChange change) {
    changes_.push_back(std::move(change));
    if (changes_.size() >= 512) flush();
  }
  std::vector<ObjectRef> objects() {
    flush();
    std::vector<ObjectRef> all;
    const StoreSnapshot snapshot = store_.snapshot();
    all.reserve(snapshot.size());
    snapshot.for_each([&](const ObjectRef& object) {
      all.push_back(object);
      return true;
    });
    return all;
  }

 private:
  void flush() {
    std::vector<StoreResult> results;
    store_.apply(changes_, results);
    changes_.clear();
  }

  IndexerCore store_;
  std::vector<StoreChange> changes_;
};

}  // namespace

/// Gets the existing objects through a watch, which then goes on in `stream`.
ReflectorCore::Initial ReflectorCore::stream_state(std::unique_ptr<AnyWatchStream>& stream,
                                                   std::stop_token stop) {
  struct TurnOff {
    ReflectorCore& reflector;
    ~TurnOff() { reflector.move_timers(Clock::TimePoint::max(), Clock::TimePoint::max()); }
  } turn_off{*this};
  for (;;) {
    if (stop.stop_requested()) return Initial::kStopped;
    bool again = false;
    const Initial result = stream_state_once(stream, again, stop);
    if (stop.stop_requested()) {
      stream.reset();
      return Initial::kStopped;
    }
    if (!again) return result;
  }
}

/// What to do after a failure: again, or list after all.
ReflectorCore::Initial ReflectorCore::state_failed(const std::exception& error,
                                                   const std::string& version, bool& again,
                                                   std::stop_token stop) {
  if (stop.stop_requested()) return Initial::kStopped;
  const bool unavailable = is_expired(error) || is_too_large_version(error);
  again = unavailable || is_refused(error);
  report({.kind = again ? What::kStateRestarted : What::kFellBackToList,
          .resource_version = version,
          .message = error.what()});
  if (!again) {
    options_.metrics.watch_list_fallbacks.add();
    return Initial::kList;
  }
  if (unavailable) {
    version_unavailable_ = true;
  } else {
    options_.log->warning("{}: cannot list and watch {}, tries again: {}", options_.name,
                          options_.type_description, error.what());
  }
  // At once if the next request is another one.
  if (!unavailable || version.empty()) (void)back_off(std::move(stop));
  return Initial::kStopped;
}

ReflectorCore::Initial ReflectorCore::stream_state_once(std::unique_ptr<AnyWatchStream>& stream,
                                                        bool& again, std::stop_token stop) {
  ListOptions options = watch_options();
  if (version_unavailable_) options.resource_version.clear();
  options.resource_version_match = "NotOlderThan";
  options.send_initial_events = true;

  const Clock::TimePoint start = options_.clock->now();
  {
    const std::lock_guard guard{mutex_};
    last_event_ = start;
    any_event_ = false;
  }
  move_timers(Clock::TimePoint::max(), start + 10s);
  Arriving arriving{access_};
  std::size_t events = 0;
  std::string version;
  std::unique_ptr<AnyWatchStream> opened;
  try {
    opened = call_user("watch", [&] { return source_->watch(options, stop); });
    options_.metrics.watches.add();
    report({.kind = What::kStreamingState, .resource_version = options.resource_version});
    for (bool complete = false; !complete;) {
      std::optional<AnyWatchEvent> event;
      try {
        if (opened != nullptr) event = call_user("watch", [&] { return opened->next(stop); });
      } catch (const std::exception& error) {
        if (!is_end_of_stream(error)) throw;
      }
      if (stop.stop_requested()) return Initial::kStopped;
      if (!event) {
        const Clock::Duration lived = options_.clock->now() - start;
        if (lived < 1s && events == 0) {
          options_.metrics.short_watches.add();
          throw Error(fmt::format(
              "very short watch: {}: Unexpected watch close - watch lasted less than a second and "
              "no items received",
              options_.name));
        }
        report({.kind = What::kStateRestarted, .items = events, .duration = lived});
        options_.log->warning(
            "{}: the stream of the state of {} ended after {} events, tries again", options_.name,
            options_.type_description, events);
        again = true;
        opened.reset();
        (void)pause_before_reconnect(lived, 0, stop);  // all that came has to come again
        return Initial::kStopped;
      }
      count(event->type);
      if (event->type == EventType::kError) {
        if (event->status) throw ApiError{*event->status};
        throw Error("unexpected object in an ERROR event");
      }
      {
        const std::lock_guard guard{mutex_};
        last_event_ = options_.clock->now();
        any_event_ = true;
      }
      if (event->type == EventType::kBookmark && event->object) {
        ++events;
        complete = access_.annotation(event->object.get(), kInitialEventsEnd) == "true";
        if (complete) version = access_.resource_version(event->object.get());
        continue;
      }
      if (const std::string why = unusable(event->object); !why.empty()) {
        options_.metrics.rejected_objects.add();
        report({.kind = What::kRejectedObject, .message = why});
        continue;
      }
      ++events;
      if (event->type == EventType::kDeleted) {
        arriving.add({.object = std::move(event->object), .erase = true});
        continue;
      }
      try {
        arriving.add({.object = prepare(std::move(event->object))});
      } catch (const std::exception& error) {
        throw ReflectorError(fmt::format("unable to sync list result: {}", error.what()),
                             std::current_exception());
      }
    }
  } catch (const ReflectorError&) {
    throw;
  } catch (const std::exception& error) {
    opened.reset();
    return state_failed(error, options.resource_version, again, std::move(stop));
  }

  std::vector<ObjectRef> items = arriving.objects();
  const std::size_t count = items.size();
  version_unavailable_ = false;
  if (options_.check_consistency.value_or(checks_by_default()) &&
      !is_consistent(items, version, stop)) {
    return Initial::kList;  // which repairs it
  }
  store(std::move(items), version);
  const Clock::Duration took = options_.clock->now() - start;
  if (took > 10s) {
    options_.log->info("{}: slow initial state of {}: {} objects after {} ms", options_.name,
                       options_.type_description, count, took / 1ms);
  }
  report({.kind = What::kStateStreamed,
          .resource_version = version,
          .items = count,
          .duration = took});
  stream = std::move(opened);
  return Initial::kStreamed;
}

/// Compares a streamed state with a list of the same version.
bool ReflectorCore::is_consistent(const std::vector<ObjectRef>& items, const std::string& version,
                                  std::stop_token stop) {
  if (version == "0") return true;
  std::vector<ObjectRef> listed;
  for (bool done = false; !done;) {
    try {
      listed.clear();
      ListOptions options;
      options.resource_version = version;
      options.resource_version_match = "Exact";
      const auto on_item = [&](ObjectRef object) {
        listed.push_back(transformed(std::move(object)));
      };
      (void)call_user("list", [&] { return source_->list(options, on_item, stop); });
      done = true;
    } catch (const std::exception& error) {
      options_.log->warning("{}: cannot check the state of {}: {}", options_.name,
                            options_.type_description, error.what());
      if (!options_.clock->sleep_for(1s, stop)) return true;
    }
  }
  std::vector<ObjectRef> streamed = items;
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
            .resource_version = version,
            .items = streamed.size(),
            .message = fmt::format("{} objects were streamed, {} listed at the same version",
                                   streamed.size(), listed.size())});
  }
  return same;
}

}  // namespace kube::detail
