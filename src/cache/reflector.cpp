// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/reflector.hpp>

#include "reflector_errors.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>
#include <kube/cache/resource_version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kube {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

std::string_view to_string(ReflectorEvent::Kind kind) noexcept {
  switch (kind) {
    case What::kListing:
      return "listing";
    case What::kListed:
      return "listed";
    case What::kListRestarted:
      return "list restarted";
    case What::kListFailed:
      return "list failed";
    case What::kStreamingState:
      return "streaming state";
    case What::kStateStreamed:
      return "state streamed";
    case What::kStateRestarted:
      return "state restarted";
    case What::kFellBackToList:
      return "fell back to list";
    case What::kInconsistent:
      return "inconsistent";
    case What::kWatching:
      return "watching";
    case What::kWatchClosed:
      return "watch closed";
    case What::kWatchExpired:
      return "watch expired";
    case What::kWatchFailed:
      return "watch failed";
    case What::kVeryShortWatch:
      return "very short watch";
    case What::kRejectedObject:
      return "rejected object";
    case What::kRejectedEvent:
      return "rejected event";
    case What::kBackingOff:
      return "backing off";
    case What::kStopped:
      return "stopped";
  }
  return "?";
}

void default_watch_error_handler(const ReflectorOptions& options, const ReflectorError& error) {
  const Logger log = options.log.value_or(stderr_logger());
  try {
    if (error.cause()) std::rethrow_exception(error.cause());
  } catch (const std::exception& cause) {
    if (detail::is_expired(cause)) {
      log.debug("{}: watch of {} closed: {}", options.name, options.type_description, cause.what());
      return;
    }
    if (detail::is_end_of_stream(cause)) {
      log.info("{}: watch of {} closed with unexpected EOF: {}", options.name,
               options.type_description, cause.what());
      return;
    }
  } catch (...) {
  }
  log.error("{}: Failed to watch {}, tries again: {}", options.name, options.type_description,
            error.what());
}

namespace detail {
namespace {

constexpr auto kSlow = 10s;
constexpr std::int64_t kDefaultPageSize = 500;
constexpr std::string_view kNoVersion;

ReflectorOptions complete(ReflectorOptions options, const Type& type) {
  if (options.type_description.empty()) {
    if (options.expected_kind) {
      options.type_description = to_string(*options.expected_kind);
    } else {
      options.type_description = type.kind == Kind::kValue ? "<unspecified>" : type.name;
    }
  }
  if (options.name.empty()) options.name = options.type_description;
  options.min_watch_timeout = std::max<std::chrono::seconds>(options.min_watch_timeout, 5min);
  options.log = options.log.value_or(stderr_logger()).named("reflector");
  return options;
}

}  // namespace

ReflectorCore::ReflectorCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                             ReflectorTarget& target, ReflectorOptions options,
                             ReflectorHooks hooks)
    : access_(access),
      source_(std::move(source)),
      target_(target),
      options_(complete(std::move(options), *access.type)),
      hooks_(std::move(hooks)),
      backoff_(options_.backoff) {
  received(true);  // so that ages begin with this
}

std::string ReflectorCore::last_version() const {
  const std::lock_guard guard{mutex_};
  return last_version_;
}

std::string ReflectorCore::last_error() const {
  const std::lock_guard guard{mutex_};
  return last_error_;
}

void ReflectorCore::set_last_version(const std::string& version) {
  {
    const std::lock_guard guard{mutex_};
    last_version_ = version;
  }
  if (const auto gauge = resource_version_gauge(version)) options_.metrics.last_version.set(*gauge);
}

void ReflectorCore::count(EventType type) {
  const InformerMetrics& metrics = options_.metrics;
  switch (type) {
    case EventType::kAdded:
      metrics.added_events.add();
      break;
    case EventType::kModified:
      metrics.modified_events.add();
      break;
    case EventType::kDeleted:
      metrics.deleted_events.add();
      break;
    case EventType::kBookmark:
      metrics.bookmarks.add();
      break;
    case EventType::kError:
      metrics.error_events.add();
      break;
  }
  received(type == EventType::kBookmark);
}

void ReflectorCore::received(bool up_to_date) {
  if (!options_.metrics.probe) return;
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard guard{mutex_};
  received_ = now;
  if (up_to_date) up_to_date_ = now;
}

void ReflectorCore::measure() const {
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard guard{mutex_};
  options_.metrics.event_age.set(std::chrono::duration<double>(now - received_).count());
  options_.metrics.bookmark_age.set(std::chrono::duration<double>(now - up_to_date_).count());
}

void ReflectorCore::set_last_error(const char* text) noexcept {
  const std::lock_guard guard{mutex_};
  try {
    last_error_ = text;
  } catch (const std::bad_alloc&) {
    last_error_ = "out of memory";  // short enough to need none
  }
}

void ReflectorCore::report(const ReflectorEvent& event) noexcept {
  const LogLevel level =
      event.kind == What::kRejectedObject || event.kind == What::kRejectedEvent ||
              event.kind == What::kInconsistent || event.kind == What::kWatchFailed
          ? LogLevel::kWarning
          : LogLevel::kDebug;
  if (options_.log->enabled(level)) {
    try {
      const std::string text = fmt::format("{}: {} {} (version {}, {} items) {}", options_.name,
                                           to_string(event.kind), options_.type_description,
                                           event.resource_version, event.items, event.message);
      if (level == LogLevel::kWarning) {
        options_.log->warning("{}", text);
      } else {
        options_.log->debug("{}", text);
      }
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a line of the log is lost
    }
  }
  if (!event.message.empty() && event.kind != What::kListFailed) {
    set_last_error(event.message.c_str());
  }
  if (!options_.on_state) return;
  try {
    options_.on_state(event);
  } catch (...) {
    with_current_exception([&](const std::exception& error) {
      options_.log->error("{}: on_state failed: {}", options_.name, error.what());
    });
  }
}

void ReflectorCore::run(std::stop_token stop) noexcept {
  do {
    try {
      round(stop);
    } catch (...) {
      round_failed();
    }
  } while (!stop.stop_requested() && back_off(stop));
  try {
    report({.kind = What::kStopped, .resource_version = last_version()});
  } catch (const std::bad_alloc&) {
    report({.kind = What::kStopped});
  }
}

/// Lists and watches until that fails, list_again() is called or a stop is requested.
void ReflectorCore::round(const std::stop_token& stop) {
  std::stop_source end;
  {
    const std::lock_guard guard{mutex_};
    round_ = end;
  }
  const std::stop_callback forward{stop, [&] { end.request_stop(); }};
  list_and_watch(end.get_token());
}

void ReflectorCore::list_again() noexcept {
  options_.metrics.relists_after_error.add();
  std::stop_source round{std::nostopstate};
  {
    const std::lock_guard guard{mutex_};
    round = round_;
  }
  round.request_stop();
}

/// Reports the exception that is being handled.
void ReflectorCore::round_failed() noexcept {
  try {
    throw;
  } catch (const ReflectorError& error) {
    set_last_error(error.what());
    options_.metrics.relists_after_error.add();
    try {
      report({.kind = What::kListFailed, .message = error.what()});
      if (options_.on_error) {
        options_.on_error(error);
      } else {
        default_watch_error_handler(options_, error);
      }
      if (hooks_.on_error) hooks_.on_error(error);
    } catch (...) {
      with_current_exception([&](const std::exception& again) {
        options_.log->error("{}: on_error failed: {}", options_.name, again.what());
      });
    }
  } catch (...) {
    // Mostly a lack of memory.
    with_current_exception([&](const std::exception& error) {
      set_last_error(error.what());
      try {
        report({.kind = What::kWatchFailed, .message = error.what()});
      } catch (const std::bad_alloc&) {
        report({.kind = What::kWatchFailed});
      }
    });
  }
}

/// Waits for the next delay. False if stopped.
bool ReflectorCore::back_off(std::stop_token stop) noexcept {
  Clock::Duration delay = options_.backoff.cap;
  try {
    delay = backoff_.next(options_.clock->now());
    report({.kind = What::kBackingOff, .duration = delay});
    return options_.clock->sleep_for(delay, stop);
  } catch (...) {
    // The source of random numbers, or the clock, failed.
    with_current_exception([&](const std::exception& error) {
      options_.log->error("{}: backing off failed: {}", options_.name, error.what());
    });
    return system_clock().sleep_for(std::min<Clock::Duration>(delay, 1s), std::move(stop));
  }
}

/// After a watch that has ended without a reason to list again. False if stopped.
bool ReflectorCore::pause_before_reconnect(Clock::Duration lived, std::size_t events,
                                           std::stop_token stop) {
  if (lived >= options_.backoff.cap) backoff_.reset();
  // A watch that brought something was of use, however short: escalating would leave the cache behind for nothing.
  if (lived >= options_.healthy_watch || events > 0) quick_ends_ = 0;
  if (lived >= options_.healthy_watch) return !stop.stop_requested();
  const Clock::Duration delay =
      std::min(options_.reconnect_cap, options_.reconnect_floor * (1 << std::min(quick_ends_, 20)));
  if (events == 0) ++quick_ends_;
  if (delay == Clock::Duration::zero()) return !stop.stop_requested();
  return options_.clock->sleep_for(delay, std::move(stop));
}

void ReflectorCore::list_and_watch(std::stop_token stop) {
  std::unique_ptr<AnyWatchStream> stream;
  Initial initial = Initial::kList;
  // The end of a streamed state is told by an annotation.
  if (options_.watch_list &&
      call_user("supports_watch_list", [&] { return source_->supports_watch_list(); }) &&
      has_metadata(*access_.type, "annotations")) {
    initial = stream_state(stream, stop);
  }
  if (initial == Initial::kStopped) return;
  if (initial == Initial::kList && !list(stop)) return;
  {
    const std::lock_guard guard{mutex_};
    last_error_.clear();
  }
  watch(std::move(stream), stop);
}

/// Why an object cannot be stored; empty if it can.
std::string ReflectorCore::unusable(const ObjectRef& object) const {
  if (!object) return "an event without an object";
  const std::string_view kind = access_.kind(object.get());
  const std::string_view version = access_.api_version(object.get());
  if (kind == "Table" && version.starts_with("meta.k8s.io/")) return "a Table instead of an object";
  if (options_.expected_kind && (kind != options_.expected_kind->kind ||
                                 version != to_string(options_.expected_kind->group_version()))) {
    return fmt::format("expected {}, found {} {}", to_string(*options_.expected_kind), version,
                       kind);
  }
  if (access_.name(object.get()).empty()) return "object has no meta: metadata.name is empty";
  return {};
}

/// What to store for an object: the stored block if it is the same version, else the transformed object.
ObjectRef ReflectorCore::prepare(ObjectRef object) {
  if (ObjectRef known = target_.known(object.get());
      known && access_.same_version(known.get(), object.get())) {
    return known;
  }
  return transformed(std::move(object));
}

ObjectRef ReflectorCore::transformed(ObjectRef object) const {
  if (!hooks_.transform) return object;
  ObjectRef result;
  try {
    result = hooks_.transform(object);
  } catch (...) {
    with_current_exception([&](const std::exception& error) {
      throw Error(fmt::format("transforming: {}: {}", access_.key(object.get()), error.what()));
    });
  }
  if (!result || access_.name(result.get()).empty()) {
    throw KeyError("transforming: " + access_.key(object.get()) + ": nothing with a name is left");
  }
  return result;
}

void ReflectorCore::store(std::vector<ObjectRef> items, const std::string& version) {
  try {
    call_user("replace", [&] { target_.replace(std::move(items), version); });
  } catch (const std::exception& error) {
    throw ReflectorError(fmt::format("unable to sync list result: {}", error.what()),
                         std::current_exception());
  }
  set_last_version(version);
  received(true);
}

/// False if stopped.
bool ReflectorCore::list(std::stop_token stop) {
  ListOptions options;
  const std::string last = last_version();
  options.resource_version = version_unavailable_ ? std::string{kNoVersion}
                             : last.empty()       ? "0"
                                                  : last;
  if (options_.page_size != 0) {
    options.limit = options_.page_size;
  } else if (paginated_ || options.resource_version.empty() || options.resource_version == "0") {
    options.limit = kDefaultPageSize;  // otherwise no limit, so that the watch cache can answer
  }

  report({.kind = What::kListing, .resource_version = options.resource_version});
  options_.metrics.lists.add();
  const Clock::TimePoint start = options_.clock->now();
  std::vector<ObjectRef> items;
  ListMetadata head;
  const auto fail = [&](const std::exception& error) {
    return ReflectorError(
        fmt::format("failed to list {}: {}", options_.type_description, error.what()),
        std::current_exception());
  };
  try {
    head = list_pages(options, items, stop);
  } catch (const ReflectorError&) {
    if (stop.stop_requested()) return false;
    throw;
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return false;
    if (!is_expired(error) && !is_too_large_version(error)) throw fail(error);
    version_unavailable_ = true;
    report({.kind = What::kListRestarted,
            .resource_version = options.resource_version,
            .message = error.what()});
    options.resource_version = kNoVersion;
    items.clear();
    try {
      head = list_pages(options, items, stop);
    } catch (const ReflectorError&) {
      if (stop.stop_requested()) return false;
      throw;
    } catch (const std::exception& again) {
      if (stop.stop_requested()) return false;
      throw fail(again);
    }
  }
  if (stop.stop_requested()) return false;
  const Clock::Duration took = options_.clock->now() - start;
  const std::size_t count = items.size();
  options_.metrics.list_duration.observe(std::chrono::duration<double>(took).count());
  options_.metrics.items_per_list.observe(static_cast<double>(count));
  version_unavailable_ = false;
  store(std::move(items), head.resource_version);
  if (const auto whole = options_.clock->now() - start; whole > kSlow) {
    options_.log->info("{}: slow list of {}: {} objects listed in {} ms, stored after {} ms",
                       options_.name, options_.type_description, count, took / 1ms, whole / 1ms);
  }
  report({.kind = What::kListed,
          .resource_version = head.resource_version,
          .items = count,
          .duration = took});
  return true;
}

/// All pages of a list. The first one decides which version it is.
ListMetadata ReflectorCore::list_pages(const ListOptions& wanted, std::vector<ObjectRef>& items,
                                       std::stop_token stop) {
  const auto take_item = [&](ObjectRef object) {
    if (stop.stop_requested()) throw Error("stopped");
    if (const std::string why =
            object && access_.name(object.get()).empty() ? unusable(object) : std::string{};
        !object || !why.empty()) {
      options_.metrics.rejected_objects.add();
      report({.kind = What::kRejectedObject, .message = why.empty() ? "no object" : why});
      return;
    }
    try {
      items.push_back(prepare(std::move(object)));
    } catch (const std::exception& error) {
      throw ReflectorError(fmt::format("unable to sync list result: {}", error.what()),
                           std::current_exception());
    }
  };
  ListOptions options = wanted;
  ListMetadata first;
  for (int page = 1;; ++page) {
    ListMetadata head;
    const std::size_t before = items.size();
    try {
      head = call_user("list", [&] { return source_->list(options, take_item, stop); });
    } catch (const ApiError& error) {
      if (page == 1 || !is_resource_expired(error)) throw;
      // The server has forgotten where the list went on: all at once then.
      items.clear();
      options = wanted;
      options.limit = 0;
      return call_user("list", [&] { return source_->list(options, take_item, stop); });
    }
    if (head.kind == "Table" && head.api_version.starts_with("meta.k8s.io/")) {
      throw Error("the server answered with a Table instead of a list");
    }
    if (page == 1) first = head;
    if (page > 1 && wanted.resource_version == "0") paginated_ = true;
    if (head.continue_token.empty()) return first;
    if (items.size() == before && head.continue_token == options.continue_token) {
      throw Error("the server answers with an empty page that goes on at itself");
    }
    options.resource_version.clear();
    options.resource_version_match.clear();
    options.continue_token = head.continue_token;
  }
}

void ReflectorCore::move_timers(Clock::TimePoint resync, Clock::TimePoint warning) {
  {
    const std::lock_guard guard{mutex_};
    resync_at_ = resync;
    warn_at_ = warning;
  }
  if (hooks_.set_timer) hooks_.set_timer(std::min(resync, warning));
}

void ReflectorCore::tick() {
  const Clock::TimePoint now = options_.clock->now();
  bool resync = false;
  bool quiet = false;
  bool any_event = false;
  Clock::TimePoint next;
  {
    const std::lock_guard guard{mutex_};
    resync = now >= resync_at_;
    if (now >= warn_at_) {
      quiet = now - last_event_ >= kSlow;
      any_event = any_event_;
      warn_at_ = now + kSlow;
    }
  }
  if (quiet) {
    options_.log->warning("{}: {} of the initial state of {} for 10 s or more", options_.name,
                          any_event ? "no further event" : "not a single event",
                          options_.type_description);
  }
  if (resync) {
    if (due_ == nullptr && hooks_.due_for_resync) due_ = hooks_.due_for_resync();
    if (due_ != nullptr || !hooks_.due_for_resync) {
      options_.log->debug("{}: forcing resync of {}", options_.name, options_.type_description);
      target_.resync(due_);
      due_.reset();
    }
  }
  {
    const std::lock_guard guard{mutex_};
    // The watch may have ended meanwhile, which has turned the timer off.
    if (resync && resync_at_ != Clock::TimePoint::max()) {
      resync_at_ = options_.clock->now() + hooks_.resync_period;
    }
    next = std::min(resync_at_, warn_at_);
  }
  if (hooks_.set_timer) hooks_.set_timer(next);
}

void IndexerTarget::apply(StoreChange change) {
  std::vector<StoreResult> results;
  store_->apply({std::move(change)}, results);
  if (!results.front().error.empty()) throw KeyError(results.front().error);
}

void IndexerTarget::add(ObjectRef object) { apply({.object = std::move(object)}); }
void IndexerTarget::erase(ObjectRef last) { apply({.object = std::move(last), .erase = true}); }
void IndexerTarget::replace(std::vector<ObjectRef> objects, std::string version) {
  std::vector<StoreResult> results;
  std::vector<ObjectRef> removed;
  store_->replace(objects, version, results, removed);
}

}  // namespace detail
}  // namespace kube
