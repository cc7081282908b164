// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_list_watch.hpp"

#include "engine/polling.hpp"
#include <kube/cache/delta.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/cache/reflector_options.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Additional tasks of a Reflector, for its owner.
struct ReflectorHooks {
  /// Changes each object before anything else sees it; throws to refuse.
  std::function<ObjectRef(const ObjectRef& object)> transform = nullptr;
  Clock::Duration resync_period = {};
  /// Returns the handlers that are due for a resync, or null if none is. Absent: always all.
  std::function<std::shared_ptr<const ResyncRequest>()> due_for_resync = nullptr;
  /// Hears of each round that failed, besides ReflectorOptions::on_error. May be absent.
  std::function<void(const std::exception& error)> on_error = nullptr;
};

/// The states of a reflector. A *round* begins with kStarting and ends, after a failure or an expired watch, with a pause
/// that grows from round to round.
///
///               ┌──────────────────────────────── pause (back-off) ◄────────────── failure, in any state
///               ▼                                                                  or a list is needed
///          kStarting ──► kOpeningState ──► kStreamingState ─┬─► kChecking ─┐              ▲
///               │              │  ▲               │         │              │              │
///               │   fall back  │  └─── pause ◄────┘ cut off └──────────────┤              │
///               ▼              ▼                                           ▼              │
///           kListing ◄─────────┘                  ┌────────────────► kWatching ───────────┤
///               │                                 │                        │              │
///               └──────────────────────────► kOpeningWatch ◄─── pause ◄────┘ ended        │
///                                                 └────────────────────────────────────── ┘
enum class ReflectorState : std::uint8_t {
  kStarting,        ///< decides how to get the existing objects
  kOpeningState,    ///< asks for a watch that begins with the existing objects
  kStreamingState,  ///< reads these, up to the bookmark that ends them
  kChecking,        ///< lists the same version, to compare it with what was streamed
  kListing,         ///< reads the pages of a list
  kOpeningWatch,    ///< asks for a watch from the last version on
  kWatching,        ///< reads events
  kPausing,         ///< waits for a time, then goes on with another state
  kStopped,         ///< nothing happens any more
};

/// The state machine behind Reflector and behind informers: keeps a target equal to a source, without ever waiting.
///
/// Thread safety: poll(), tick() and wake_at() from one thread at a time; the rest from any.
class ReflectorCore {
 public:
  /// All references must outlive it.
  ReflectorCore(const ObjectAccess& access, std::shared_ptr<AsyncListWatch> source,
                ReflectorTarget& target, ReflectorOptions options, ReflectorHooks hooks = {});
  ~ReflectorCore();
  ReflectorCore(const ReflectorCore&) = delete;
  ReflectorCore& operator=(const ReflectorCore&) = delete;

  /// Goes on as far as it can. Poll::kMore: the target is full, or it is the turn of others. Poll::kReady: it has stopped.
  [[nodiscard]] Poll poll(const Poller& poller) noexcept;
  /// Has the next poll() stop. The waker is not woken.
  void stop() noexcept { stopping_ = true; }
  /// Ends the list or watch that is under way, and lists after a pause: what came of it has been lost. The waker is not
  /// woken.
  void list_again() noexcept;
  /// Does what is due: a resync, a warning about a state that does not arrive. Called again after it has thrown, it goes
  /// on where it stopped.
  void tick();
  /// When tick() has something to do; TimePoint::max(): never.
  [[nodiscard]] Clock::TimePoint tick_at() const noexcept;
  /// When to poll although the waker was not woken.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;
  /// Fills in the ages of InformerMetrics.
  void measure() const;

 private:
  using State = ReflectorState;
  struct Listing;
  struct Streaming;
  struct Checking;
  struct Watching;

  /// One step of the state. Poll::kReady: go on with what is the state now.
  Poll step(const Poller& poller);
  void start_round();
  void end_round() noexcept;
  void round_failed() noexcept;
  void drop_operations() noexcept;
  Poll pause();
  void pause_until(Clock::TimePoint time, State then) noexcept;
  void back_off(State then) noexcept;
  void pause_before_reconnect(Clock::Duration lived, std::size_t events, State then);
  void end() noexcept;

  void start_list();
  Poll list(const Poller& poller);
  void list_failed(const std::exception& error);
  [[nodiscard]] bool page_read(const ListMetadata& page);
  void list_complete();
  void take_item(ObjectRef object);

  Poll open_state(const Poller& poller);
  Poll stream_state();
  void take_state(AnyWatchEvent& event);
  void state_cut_off();
  void state_failed(const std::exception& error);
  void state_complete();
  void accept_state(std::vector<ObjectRef> items);
  Poll check(const Poller& poller);
  [[nodiscard]] bool is_same_state(std::vector<ObjectRef> streamed, std::vector<ObjectRef> listed);

  void begin_watching(std::unique_ptr<AsyncWatch> watch);
  Poll open_watch(const Poller& poller);
  void open_failed(const std::exception& error);
  Poll watch();
  [[nodiscard]] bool take_event(AnyWatchEvent& event);
  void put(const AnyWatchEvent& event);
  void watch_ended(const std::exception_ptr& error);
  [[nodiscard]] bool may_retry_internal_error();
  [[nodiscard]] ListOptions watch_options();

  ObjectRef prepare(ObjectRef object);
  [[nodiscard]] ObjectRef transformed(ObjectRef object) const;
  [[nodiscard]] std::string unusable(const ObjectRef& object) const;
  void reject(const std::string& why);
  void store(std::vector<ObjectRef> items, const std::string& version);
  void set_last_version(const std::string& version);
  void clear_last_error();
  void set_last_error(const char* text) noexcept;
  void count(EventType type);
  void received(bool up_to_date);
  void report(const ReflectorEvent& event) noexcept;

  const ObjectAccess& access_;
  std::shared_ptr<AsyncListWatch> source_;  // until it has stopped
  ReflectorTarget& target_;
  const ReflectorOptions options_;
  const ReflectorHooks hooks_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> list_again_ = false;

  // For whoever polls:
  State state_ = State::kStarting;
  State after_pause_ = State::kStarting;
  Clock::TimePoint pause_until_{};
  std::unique_ptr<Listing> listing_;
  std::unique_ptr<Streaming> streaming_;
  std::unique_ptr<Checking> checking_;
  std::unique_ptr<Watching> watching_;
  Backoff backoff_;
  bool version_unavailable_ = false;
  bool paginated_ = false;
  int quick_ends_ = 0;
  std::optional<Clock::TimePoint> internal_error_first_;
  Clock::TimePoint internal_error_last_{};
  Clock::TimePoint resync_at_ = Clock::TimePoint::max();
  Clock::TimePoint warn_at_ = Clock::TimePoint::max();
  std::shared_ptr<const ResyncRequest> due_;  // found by tick(), and not handed over yet

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::string last_version_;
  std::string last_error_;
  Clock::TimePoint received_{};    // when anything came
  Clock::TimePoint up_to_date_{};  // when the last bookmark or list came
};

}  // namespace kube::detail
