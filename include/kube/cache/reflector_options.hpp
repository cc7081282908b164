// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/feature_gates.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/cache/informer_metrics.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Reports why a round of list and watch failed. cause() is the original exception: an ApiError,
/// TransportError, ...
class ReflectorError : public Error {
 public:
  /// `cause` is the exception that ended the round.
  ReflectorError(const std::string& message, std::exception_ptr cause)
      : Error(message), cause_(std::move(cause)) {}
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

/// A state change of a Reflector, for `on_state`.
struct ReflectorEvent {
  /// The step of list and watch that was reached.
  enum class Kind {
    kListing,         ///< a list begins
    kListed,          ///< `items` objects, as of `resource_version`, were stored
    kListRestarted,   ///< the requested version is not available: lists again, for the newest state
    kListFailed,      ///< the round failed; see `message`
    kStreamingState,  ///< a watch that begins with the existing objects was opened
    kStateStreamed,   ///< ... and has delivered `items` of them, up to `resource_version`
    kStateRestarted,  ///< ... or has to be restarted
    kFellBackToList,  ///< ... or is not supported; see `message`
    kInconsistent,    ///< the streamed state differs from a list of the same version
    kWatching,        ///< a watch was opened at `resource_version`
    kWatchClosed,     ///< the watch ended without an error, after `items` events and `duration`
    kWatchExpired,    ///< the server no longer has the version (410 Gone): lists again
    kWatchFailed,     ///< the watch could not be opened, or ended with an error; see `message`
    kVeryShortWatch,  ///< the watch ended at once, without an event: lists again
    kRejectedObject,  ///< an unusable object was skipped; see `message`
    kRejectedEvent,   ///< an event could not be applied, so a new list follows; see `message`
    kBackingOff,      ///< waits for `duration`
    kStopped,
  };
  Kind kind = Kind::kListing;
  std::string resource_version = {};
  std::size_t items = 0;
  Clock::Duration duration = {};
  std::string message = {};
};
/// Returns a name for logs.
[[nodiscard]] std::string_view to_string(ReflectorEvent::Kind kind) noexcept;

/// Settings of a Reflector. Any field may be left out.
struct ReflectorOptions {
  /// Name in logs and errors; by default that of the type.
  std::string name = {};
  /// The objects in log lines and errors, such as "v1 Pod"; by default the name of the type.
  std::string type_description = {};
  /// Streams the existing objects through the watch (WatchList), if the source supports it.
  bool watch_list = feature_default(Feature::kWatchListClient);
  /// Objects per LIST page. 0: 500, or all at once where the server can answer from memory.
  std::int64_t page_size = 0;
  /// Each watch asks the server to end it after a random time in [t, 2t); at least 5 minutes.
  std::chrono::seconds min_watch_timeout = std::chrono::minutes{5};
  /// The pauses after failures.
  BackoffOptions backoff = {.initial = std::chrono::milliseconds{800},
                            .factor = 2,
                            .jitter = 1,
                            .cap = std::chrono::seconds{30},
                            .reset_after = std::chrono::minutes{2}};
  /// A watch that ends within `healthy_watch` is followed by a pause, so that the server is not
  /// asked in a tight loop: `reconnect_floor` if it delivered an event or a bookmark, else twice
  /// the last pause, up to `reconnect_cap`. One that lived longer is followed by the next one
  /// immediately.
  Clock::Duration reconnect_floor = std::chrono::milliseconds{20};
  /// See reconnect_floor.
  Clock::Duration reconnect_cap = std::chrono::seconds{2};
  /// See reconnect_floor.
  Clock::Duration healthy_watch = std::chrono::seconds{10};
  /// How long a watch that ends with internal errors of the server is reopened without a new list.
  Clock::Duration max_internal_error_retry = {};
  /// Jitter of the first resync, as a fraction of the period, so that informers that start together
  /// do not resync together.
  double resync_jitter = 0.1;
  /// For untyped objects (Value): watch events of another kind are skipped.
  std::optional<GroupVersionKind> expected_kind = std::nullopt;
  /// Compares each streamed state with a list of the same version. Expensive, for tests. Enabled by
  /// default if the process was started with KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=true.
  std::optional<bool> check_consistency = std::nullopt;

  /// Receives the error of each failed round: a list, or the opening of a watch. Its exceptions are
  /// swallowed. See default_watch_error_handler().
  std::function<void(const ReflectorError& error)> on_error = nullptr;
  /// Receives every state change. Must not block. Its exceptions are swallowed.
  std::function<void(const ReflectorEvent& event)> on_state = nullptr;

  /// The clock of all timeouts and pauses. Must outlive the reflector.
  Clock* clock = &system_clock();
  /// The source of all jitter.
  Random random = system_random();
  /// If not set: the logger of the source (for a ResourceListWatch that of its client), otherwise
  /// stderr_logger(). Logger{} is silent.
  std::optional<Logger> log = std::nullopt;
  /// By default, nothing is counted.
  InformerMetrics metrics = {};
};

/// Default for `on_error`: writes a log line, at a level that depends on how serious the error is.
void default_watch_error_handler(const ReflectorOptions& options, const ReflectorError& error);

}  // namespace kube
