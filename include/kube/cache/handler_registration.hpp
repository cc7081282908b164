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

/// What happens to notifications for a handler that is slower than the server.
enum class BacklogPolicy {
  /// Above the high-water mark, notifications of one object that wait are merged: the handler sees the first
  /// old and the last new state. So there are never more than objects.
  kCoalesce,
  /// At the high-water mark the informer waits for the handler: nothing is merged, but everything else, the
  /// cache and other handlers included, waits as well.
  kBlock,
  /// Everything is kept, as in client-go.
  kUnbounded,
};

/// How a handler is told of changes. Any field may be left out.
struct HandlerOptions {
  /// For logs and signals.
  std::string name = {};
  /// How often to show all objects again; by default as the informer does, 0: never. Below a second it is
  /// raised to one.
  std::optional<Clock::Duration> resync = std::nullopt;
  /// Delivery::kInline saves the hand-over to another thread, for a handler that only puts a key into a queue, say. A call
  /// that waits (a request, WorkQueue::get()) throws std::logic_error there. One that takes longer than 10 ms is logged,
  /// and the handler is called by workers from then on.
  Delivery delivery = Delivery::kQueued;
  BacklogPolicy backlog = BacklogPolicy::kCoalesce;
  std::size_t high_water = 1024;
  /// Called when the backlog rises above the mark; must not block.
  std::function<void(std::size_t backlog)> on_high_water = nullptr;
  /// Hears of each exception of the handler (CacheError::Place::kHandler), after that call and before the
  /// on_error of the informer does.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// How long to wait after such a failure before the next call.
  Clock::Duration failure_pause = std::chrono::seconds{1};
};

/// How a handler is taken off an informer.
enum class Removal {
  kAtOnce,         ///< what waits is dropped; a call may still be under way
  kAtOnceAndWait,  ///< the same, and no call is under way any more on return
  kDrainAndWait,   ///< what waits is delivered first
};

namespace detail {
class Listener;

/// The functions of an EventHandler, without the type.
struct AnyHandler {
  std::function<void(const ObjectRef& object, bool in_initial_list)> on_add;
  std::function<void(const ObjectRef& before, const ObjectRef& now)> on_update;
  std::function<void(const ObjectRef& last, std::string_view key, bool final_state_known)>
      on_delete;
};
}  // namespace detail

/// A handler that was added to an informer. Copies are the same registration; it may outlive the informer.
///
/// Thread safety: any method from any thread.
class HandlerRegistration {
 public:
  HandlerRegistration() = default;

  /// True once the informer has synced and the handler was called for every object that existed then (or
  /// when it was added). Stays true.
  [[nodiscard]] bool has_synced() const { return synced().done(); }
  [[nodiscard]] DoneSignal synced() const;
  /// Notifications that wait.
  [[nodiscard]] std::size_t backlog() const;
  /// How often the handler has thrown, and what it said last.
  [[nodiscard]] std::uint64_t failures() const;
  [[nodiscard]] std::string last_failure() const;

 private:
  friend struct detail::Inside;
  explicit HandlerRegistration(std::shared_ptr<detail::Listener> core) : core_(std::move(core)) {}

  std::shared_ptr<detail::Listener> core_;
};

}  // namespace kube
