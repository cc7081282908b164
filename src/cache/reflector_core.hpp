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

/// Additional functions that the owner of a Reflector provides.
struct ReflectorHooks {
  /// Changes each object before it is used further. Throws to reject it.
  std::function<ObjectRef(const ObjectRef& object)> transform = nullptr;
  Clock::Duration resync_period = {};
  /// Returns the handlers that are due for a resync, or null if none is. If absent, all are.
  std::function<std::shared_ptr<const ResyncRequest>()> due_for_resync = nullptr;
  /// Receives the error of each failed round, in addition to ReflectorOptions::on_error. May be
  /// absent.
  std::function<void(const std::exception& error)> on_error = nullptr;
};

/// The states of a reflector.
///
///       ┌────────── kStarting ◄───────────── kPausing ◄────── end of the round,
///       │               │                   (back-off)        from any state
///       │ no WatchList  │ WatchList
///       │               ▼             opened                    complete
///       │         kOpeningState ─────────────► kStreamingState ──────────┬──────────┐
///       │            │    ▲                       │        │             │ to be    │
///       │     failed │    └────── kPausing ◄──────┘        │ failed      │ checked  │
///       ▼            ▼                       cut off       │             ▼          │
///    kListing ◄──────┴─────────────────────────────────────┴──────── kChecking      │
///       │                                                    differs     │ equal    │
///       │ complete                                                       ▼          │
///       └──────────► kOpeningWatch ───────────────────────────────► kWatching ◄─────┘
///                          ▲                opened                       │
///                          └────────────── kPausing ◄────────────────────┘
///                                                         ended
///
/// A *round* begins with kStarting. It ends when a list or watch fails, or when the server no
/// longer has the version (410 Gone). The next one begins after a pause that grows from round to
/// round.
/// Not drawn: a request that the server refuses for now (overload, connection refused) is repeated
/// in the same state after a pause; stop() leads from any state to kStopped.
enum class ReflectorState : std::uint8_t {
  kStarting,        ///< Decides how to get the existing objects: WatchList or a plain list.
  kOpeningState,    ///< Opens a watch that begins with the existing objects (sendInitialEvents).
  kStreamingState,  ///< Reads the existing objects, up to the bookmark that ends them.
  kChecking,        ///< Lists the streamed version and compares; only with check_consistency.
  kListing,         ///< Reads the pages of a list.
  kOpeningWatch,    ///< Opens a watch that begins at the last version read.
  kWatching,        ///< Reads events; a streamed state continues here with the same watch.
  kPausing,         ///< Waits for a time, then continues with the state `after_pause_`.
  kStopped,         ///< Does nothing any more; the final state.
};

/// The state machine behind Reflector and behind informers: keeps a target equal to a source. It is
/// polled, and never blocks.
///
/// Thread safety: poll(), tick() and wake_at() from one thread at a time; the rest from any.
class ReflectorCore {
 public:
  /// All referenced objects must outlive it.
  ReflectorCore(const ObjectAccess& access, std::shared_ptr<AsyncListWatch> source,
                ReflectorTarget& target, ReflectorOptions options, ReflectorHooks hooks = {});
  ~ReflectorCore();
  ReflectorCore(const ReflectorCore&) = delete;
  ReflectorCore& operator=(const ReflectorCore&) = delete;

  /// Makes as much progress as possible. Poll::kMore: the target is full, or the work limit of one
  /// call is reached. Poll::kReady: it has stopped.
  [[nodiscard]] Poll poll(const Poller& poller) noexcept;
  /// Makes the next poll() stop. Does not wake the waker.
  void stop() noexcept { stopping_ = true; }
  /// Ends the current list or watch, whose results were lost, and lists again after a pause. Does
  /// not wake the waker.
  void list_again() noexcept;
  /// Does timed work: a resync, a warning about an initial state that does not arrive. After an
  /// exception it can be called again, and continues where it stopped.
  void tick();
  /// Returns when tick() has something to do; TimePoint::max(): never.
  [[nodiscard]] Clock::TimePoint tick_at() const noexcept;
  /// Returns when to poll even if the waker was not woken.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;
  /// Updates the ages in InformerMetrics.
  void measure() const;

 private:
  using State = ReflectorState;
  struct Listing;
  struct Streaming;
  struct Checking;
  struct Watching;

  /// Does one step in the current state. Poll::kReady: continue with the state that is current
  /// then.
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
  std::shared_ptr<AsyncListWatch> source_;  // reset when it has stopped
  ReflectorTarget& target_;
  const ReflectorOptions options_;
  const ReflectorHooks hooks_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> list_again_ = false;

  // Used only by the polling thread:
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
  std::shared_ptr<const ResyncRequest> due_;  // found by tick(), and not yet passed on

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::string last_version_;
  std::string last_error_;
  Clock::TimePoint received_{};    // when data arrived last
  Clock::TimePoint up_to_date_{};  // when the last bookmark or list arrived
};

}  // namespace kube::detail
