// SPDX-License-Identifier: Apache-2.0
#include "reflector_core.hpp"

#include "reflector_errors.hpp"
#include "reflector_parts.hpp"
#include "thrown.hpp"

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
  log.error("{}: Failed to watch {}, retrying: {}", options.name, options.type_description,
            error.what());
}

namespace detail {
namespace {

constexpr auto kSlow = 10s;

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

ReflectorCore::ReflectorCore(const ObjectAccess& access, std::shared_ptr<AsyncListWatch> source,
                             ReflectorTarget& target, ReflectorOptions options,
                             ReflectorHooks hooks)
    : access_(access),
      source_(std::move(source)),
      target_(target),
      options_(complete(std::move(options), *access.type)),
      hooks_(std::move(hooks)),
      backoff_(options_.backoff) {
  received(true);  // ages are measured from now on
}

ReflectorCore::~ReflectorCore() = default;

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
  const auto gauge = resource_version_gauge(version);
  if (gauge) options_.metrics->last_version.set(*gauge);
}

void ReflectorCore::count(EventType type) {
  const InformerMetrics& metrics = options_.metrics;
  switch (type) {
    case EventType::kAdded:
      metrics->added_events.add();
      break;
    case EventType::kModified:
      metrics->modified_events.add();
      break;
    case EventType::kDeleted:
      metrics->deleted_events.add();
      break;
    case EventType::kBookmark:
      metrics->bookmarks.add();
      break;
    case EventType::kError:
      metrics->error_events.add();
      break;
  }
  received(type == EventType::kBookmark);
}

void ReflectorCore::received(bool up_to_date) {
  if (!options_.metrics->probe) return;
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard guard{mutex_};
  received_ = now;
  if (up_to_date) up_to_date_ = now;
}

void ReflectorCore::measure() const {
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard guard{mutex_};
  options_.metrics->event_age.set(std::chrono::duration<double>(now - received_).count());
  options_.metrics->bookmark_age.set(std::chrono::duration<double>(now - up_to_date_).count());
}

void ReflectorCore::clear_last_error() {
  const std::lock_guard guard{mutex_};
  last_error_.clear();
}

void ReflectorCore::set_last_error(const char* text) noexcept {
  const std::lock_guard guard{mutex_};
  try {
    last_error_ = text;
  } catch (const std::bad_alloc&) {
    last_error_ = "out of memory";  // fits the small-string buffer: no allocation
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

Poll ReflectorCore::poll(const Poller& poller) noexcept {
  for (;;) {
    if (state_ == State::kStopped) return Poll::kReady;
    if (stopping_) {
      end();
      continue;
    }
    const bool between_rounds = state_ == State::kPausing && after_pause_ == State::kStarting;
    if (list_again_.exchange(false) && !between_rounds) {
      end_round();
      continue;
    }
    try {
      if (const Poll progress = step(poller); progress != Poll::kReady) return progress;
    } catch (...) {
      round_failed();
      end_round();
    }
  }
}

Poll ReflectorCore::step(const Poller& poller) {
  switch (state_) {
    case State::kStarting:
      start_round();
      return Poll::kReady;
    case State::kOpeningState:
      return open_state(poller);
    case State::kStreamingState:
      return stream_state();
    case State::kChecking:
      return check(poller);
    case State::kListing:
      return list(poller);
    case State::kOpeningWatch:
      return open_watch(poller);
    case State::kWatching:
      return watch();
    case State::kPausing:
      return pause();
    case State::kStopped:
      break;
  }
  return Poll::kReady;
}

void ReflectorCore::start_round() {
  // The end of a streamed state is marked by an annotation, so the type must have annotations.
  if (options_.watch_list &&
      call_user("supports_watch_list", [&] { return source_->supports_watch_list(); }) &&
      has_metadata(*access_.type, "annotations")) {
    state_ = State::kOpeningState;
  } else {
    start_list();
  }
}

void ReflectorCore::drop_operations() noexcept {
  listing_.reset();
  streaming_.reset();
  checking_.reset();
  watching_.reset();
  resync_at_ = warn_at_ = Clock::TimePoint::max();
}

void ReflectorCore::end_round() noexcept {
  drop_operations();
  back_off(State::kStarting);
}

void ReflectorCore::end() noexcept {
  drop_operations();
  // Released here: the source may own the client whose thread destroys the reflector later, and
  // that thread could not join itself.
  source_.reset();
  state_ = State::kStopped;
  try {
    report({.kind = What::kStopped, .resource_version = last_version()});
  } catch (const std::bad_alloc&) {
    report({.kind = What::kStopped});
  }
}

void ReflectorCore::list_again() noexcept {
  options_.metrics->relists_after_error.add();
  list_again_ = true;
}

/// Reports the exception being handled.
void ReflectorCore::round_failed() noexcept {
  try {
    throw;
  } catch (const ReflectorError& error) {
    set_last_error(error.what());
    options_.metrics->relists_after_error.add();
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
    // Usually a lack of memory.
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

Poll ReflectorCore::pause() {
  if (options_.clock->now() < pause_until_) return Poll::kPending;
  state_ = after_pause_;
  return Poll::kReady;
}

void ReflectorCore::pause_until(Clock::TimePoint time, State then) noexcept {
  pause_until_ = time;
  after_pause_ = then;
  state_ = State::kPausing;
}

/// Pauses with exponential back-off.
void ReflectorCore::back_off(State then) noexcept {
  Clock::Duration delay = std::min<Clock::Duration>(options_.backoff.cap, 1s);
  try {
    delay = backoff_.next(options_.clock->now());
    report({.kind = What::kBackingOff, .duration = delay});
  } catch (...) {
    with_current_exception([&](const std::exception& error) {
      options_.log->error("{}: backing off failed: {}", options_.name, error.what());
    });
  }
  pause_until(options_.clock->now() + delay, then);
}

/// Pauses after a watch that ended without a reason to list again.
void ReflectorCore::pause_before_reconnect(Clock::Duration lived, std::size_t events, State then) {
  if (lived >= options_.backoff.cap) backoff_.reset();
  // A watch that delivered something was useful, however short: a longer pause would only delay the
  // cache.
  if (lived >= options_.healthy_watch || events > 0) quick_ends_ = 0;
  state_ = then;
  if (lived >= options_.healthy_watch) return;
  const Clock::Duration delay =
      std::min(options_.reconnect_cap, options_.reconnect_floor * (1 << std::min(quick_ends_, 20)));
  if (events == 0) ++quick_ends_;
  if (delay > Clock::Duration::zero()) pause_until(options_.clock->now() + delay, then);
}

Clock::TimePoint ReflectorCore::wake_at() const noexcept {
  switch (state_) {
    case State::kPausing:
      return pause_until_;
    case State::kListing:
      return listing_ && listing_->operation ? listing_->operation->wake_at()
                                             : Clock::TimePoint::max();
    case State::kOpeningState:
    case State::kStreamingState:
      return streaming_ && streaming_->operation ? streaming_->operation->wake_at()
                                                 : Clock::TimePoint::max();
    case State::kChecking:
      return checking_ && checking_->operation ? checking_->operation->wake_at()
                                               : Clock::TimePoint::max();
    case State::kOpeningWatch:
    case State::kWatching:
      return watching_ && watching_->operation ? watching_->operation->wake_at()
                                               : Clock::TimePoint::max();
    case State::kStarting:
    case State::kStopped:
      break;
  }
  return Clock::TimePoint::max();
}

Clock::TimePoint ReflectorCore::tick_at() const noexcept { return std::min(resync_at_, warn_at_); }

void ReflectorCore::tick() {
  const Clock::TimePoint now = options_.clock->now();
  if (now >= warn_at_) {
    if (streaming_ != nullptr && now - streaming_->last_event >= kSlow) {
      options_.log->warning("{}: {} of the initial state of {} for at least 10 s", options_.name,
                            streaming_->any_event ? "no further event" : "not a single event",
                            options_.type_description);
    }
    warn_at_ = now + kSlow;
  }
  if (now < resync_at_) return;
  if (due_ == nullptr && hooks_.due_for_resync) due_ = hooks_.due_for_resync();
  if (due_ != nullptr || !hooks_.due_for_resync) {
    options_.log->debug("{}: forcing resync of {}", options_.name, options_.type_description);
    target_.resync(due_);
    due_.reset();
  }
  resync_at_ = options_.clock->now() + hooks_.resync_period;
}

/// Returns why an object cannot be stored; empty if it can.
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

/// Returns the object to store: the stored block if the version is the same, else the transformed
/// object.
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
    throw KeyError("transforming: " + access_.key(object.get()) + ": the result has no name");
  }
  return result;
}

void ReflectorCore::reject(const std::string& why) {
  options_.metrics->rejected_objects.add();
  report({.kind = What::kRejectedObject, .message = why});
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

}  // namespace detail
}  // namespace kube
