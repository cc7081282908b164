// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/inside.hpp>
#include <kube/cache/cache_error.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/engine/delivery.hpp>
#include <kube/object/object_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kube {

/// Policy for notifications that a slow handler has not received yet.
enum class BacklogPolicy {
  /// Above the high-water mark, waiting notifications of one object are coalesced: the handler
  /// receives the first old and the last new state. The backlog never exceeds the number of
  /// objects.
  kCoalesce,
  /// At the high-water mark the informer waits for the handler (back-pressure). No notification is
  /// coalesced, but the cache and all other handlers wait as well.
  kBlock,
  /// All notifications are kept, as in client-go.
  kUnbounded,
};

/// Settings of one handler. Any field may be left out.
struct HandlerOptions {
  /// Name in logs and signals.
  std::string name = {};
  /// Resync period: how often all objects are delivered again. By default the informer's; 0: never.
  /// Values below one second are raised to one second.
  std::optional<Clock::Duration> resync = std::nullopt;
  /// Delivery::kInline saves the hand-over to another thread, for instance for a handler that only
  /// adds a key to a queue. A call that would wait (a request, WorkQueue::get()) throws
  /// std::logic_error there. A call that takes longer than 10 ms is logged, and workers call the
  /// handler from then on.
  Delivery delivery = Delivery::kQueued;
  /// The policy for a handler that is slower than the changes.
  BacklogPolicy backlog = BacklogPolicy::kCoalesce;
  /// The number of waiting notifications above which the policy applies.
  std::size_t high_water = 1024;
  /// Called when the backlog rises above the high-water mark. Must not block.
  std::function<void(std::size_t backlog)> on_high_water = nullptr;
  /// Receives each exception of the handler (CacheError::Place::kHandler), before the informer's
  /// own `on_error` does.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// Pause after such a failure before the next call.
  Clock::Duration failure_pause = std::chrono::seconds{1};
};

/// How remove_event_handler() ends a registration.
enum class Removal {
  kAtOnce,         ///< drops waiting notifications; a call may still be under way on return
  kAtOnceAndWait,  ///< drops waiting notifications; no call is under way on return
  kDrainAndWait,   ///< delivers waiting notifications first; no call is under way on return
};

namespace detail {
class Listener;

/// The type-erased functions of an EventHandler.
struct AnyHandler {
  std::function<void(const ObjectRef& object, bool in_initial_list)> on_add;
  std::function<void(const ObjectRef& before, const ObjectRef& now)> on_update;
  std::function<void(const ObjectRef& last, std::string_view key, bool final_state_known)>
      on_delete;
};
}  // namespace detail

/// A handler that was added to an informer. Copies refer to the same registration. It may outlive
/// the informer.
///
/// Thread safety: any method from any thread.
class HandlerRegistration {
 public:
  HandlerRegistration() = default;

  /// True once the informer has synced and the handler was called for every object that existed
  /// then (or when the handler was added). Stays true.
  [[nodiscard]] bool has_synced() const { return synced().done(); }
  [[nodiscard]] DoneSignal synced() const;
  /// Returns the number of waiting notifications.
  [[nodiscard]] std::size_t backlog() const;
  /// Returns how often the handler has thrown; last_failure() has the latest message.
  [[nodiscard]] std::uint64_t failures() const;
  [[nodiscard]] std::string last_failure() const;

 private:
  friend struct detail::Inside;
  explicit HandlerRegistration(std::shared_ptr<detail::Listener> core) : core_(std::move(core)) {}

  std::shared_ptr<detail::Listener> core_;
};

}  // namespace kube
