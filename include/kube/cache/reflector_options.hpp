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

/// Why a round of list and watch failed. cause() is what was thrown: an ApiError, TransportError, ...
class ReflectorError : public Error {
 public:
  ReflectorError(const std::string& message, std::exception_ptr cause)
      : Error(message), cause_(std::move(cause)) {}
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

/// Something that happened to a Reflector.
struct ReflectorEvent {
  enum class Kind {
    kListing,         ///< a list begins
    kListed,          ///< `items` objects, as of `resource_version`, went into the store
    kListRestarted,   ///< the version asked for is not available: once more, for the newest state
    kListFailed,      ///< the round failed; see `message`
    kStreamingState,  ///< a watch that begins with the existing objects was opened
    kStateStreamed,   ///< ... and has delivered `items` of them, up to `resource_version`
    kStateRestarted,  ///< ... or has to begin anew
    kFellBackToList,  ///< ... or is not possible; see `message`
    kInconsistent,    ///< the streamed state differs from a list of the same version
    kWatching,        ///< a watch was opened at `resource_version`
    kWatchClosed,     ///< it ended without an error, after `items` events and `duration`
    kWatchExpired,    ///< the server has forgotten the version: list again
    kWatchFailed,     ///< it could not be opened, or ended with an error; see `message`
    kVeryShortWatch,  ///< it ended at once, without an event: list again
    kRejectedObject,  ///< an object is of no use and was left out; see `message`
    kRejectedEvent,   ///< an event could not be taken, so a new list is needed; see `message`
    kBackingOff,      ///< waits for `duration`
    kStopped,
  };
  Kind kind = Kind::kListing;
  std::string resource_version = {};
  std::size_t items = 0;
  Clock::Duration duration = {};
  std::string message = {};
};
[[nodiscard]] std::string_view to_string(ReflectorEvent::Kind kind) noexcept;

/// How a Reflector lists and watches. Any field may be left out.
struct ReflectorOptions {
  /// For logs and errors; by default the type.
  std::string name = {};
  std::string type_description = {};
  /// Get the existing objects through the watch, if the source can do it.
  bool watch_list = feature_default(Feature::kWatchListClient);
  /// Objects per LIST page; 0: 500, or all at once where the server can answer from memory.
  std::int64_t page_size = 0;
  /// Each watch asks to end after a random time in [t, 2t); not below 5 minutes.
  std::chrono::seconds min_watch_timeout = std::chrono::minutes{5};
  BackoffOptions backoff = {.initial = std::chrono::milliseconds{800},
                            .factor = 2,
                            .jitter = 1,
                            .cap = std::chrono::seconds{30},
                            .reset_after = std::chrono::minutes{2}};
  /// A watch that ends within `healthy_watch` is followed by a pause, so that no server is asked in a tight loop:
  /// `reconnect_floor` if it brought an event or a bookmark, else twice the last pause, up to `reconnect_cap`. One that
  /// lived longer is followed by the next one at once.
  Clock::Duration reconnect_floor = std::chrono::milliseconds{20};
  Clock::Duration reconnect_cap = std::chrono::seconds{2};
  Clock::Duration healthy_watch = std::chrono::seconds{10};
  /// How long a watch that ends with internal errors of the server is opened again without a new list.
  Clock::Duration max_internal_error_retry = {};
  /// How much longer than asked the first resync may take, as a part of the period: so that informers that
  /// start together do not resync together.
  double resync_jitter = 0.1;
  /// For objects without a type (Value): watch events of another kind are left out.
  std::optional<GroupVersionKind> expected_kind = std::nullopt;
  /// Compares each streamed state with a list of the same version. Expensive, for tests; by default if the
  /// process was started with KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=true.
  std::optional<bool> check_consistency = std::nullopt;

  /// Hears of each round that failed: a list, or the opening of a watch. What it throws is swallowed. See
  /// default_watch_error_handler().
  std::function<void(const ReflectorError& error)> on_error = nullptr;
  /// Hears of everything; must not block. What it throws is swallowed.
  std::function<void(const ReflectorEvent& event)> on_state = nullptr;

  Clock* clock = &system_clock();
  Random random = system_random();
  /// Not set: that of the source, ResourceListWatch: of its client; otherwise stderr_logger(). Logger{} is silent.
  std::optional<Logger> log = std::nullopt;
  InformerMetrics metrics = {};
};

/// What happens without an `on_error`: a log line that is loud where somebody should look.
void default_watch_error_handler(const ReflectorOptions& options, const ReflectorError& error);

}  // namespace kube
