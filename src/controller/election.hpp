// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "election_try.hpp"

#include "engine/deferred_calls.hpp"
#include "engine/job.hpp"
#include "engine/timer.hpp"
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

/// The state machine of an election. It runs on the loop of leases (`kube-lease`), and calls no
/// user code: its owner (ElectionRun) polls has_acquired(), runs the leader's work elsewhere, and
/// reports its end.
///
///    kAcquire ◄────► kAcquireWait ────────────────── stop ────────────────► kEnded
///       │ held                                                                ▲ ▲
///       ▼           due                                                       │ │
///     kLead ───────────────► kRenew ◄────► kRenewWait                         │ │
///        │ ▲       held        │               │                              │ │
///        │ └───────────────────┘               │                              │ │
///        │      work has ended, lease lost, or not renewed until the deadline │ │
///        └───────────────┬─────┴───────────────┘                              │ │
///                        ▼         work has ended                             │ │
///                     kStopWork ─────────────────► kRelease ◄─► kReleaseWait  │ │
///                        │                            └───────────────────────┘ │
///                        └───────────── without release_on_cancel ──────────────┘
class Election final : public Job {
 public:
  enum class State : std::uint8_t {
    kAcquire,      ///< tries to acquire the lease
    kAcquireWait,  ///< waits for the next try: another candidate holds it, or the try failed
    kLead,         ///< holds the lease, and waits until the renewal is due
    kRenew,        ///< tries to renew the lease
    kRenewWait,    ///< waits for the next try to renew, until the deadline
    kStopWork,     ///< no longer leads, and waits until the work has ended
    kRelease,      ///< releases the lease
    kReleaseWait,  ///< waits for the next try to release, after a conflict
    kEnded,        ///< final state
  };

  /// `announcements` calls on_new_leader; null if there is none. Throws std::bad_alloc.
  Election(ElectionContext context, std::shared_ptr<DeferredCalls> announcements);

  /// Call once. `observer` is woken when the result of one of the queries below changes.
  void start(std::weak_ptr<Waker> observer) noexcept;

  void request_stop() noexcept;
  /// Called when the work, which has_acquired() permitted, has returned or thrown. It ends the
  /// leadership if the work has thrown or a stop was requested; otherwise the lease is renewed
  /// until a stop.
  enum class Work : std::uint8_t { kReturned, kFailed };
  void work_ended(Work how) noexcept;

  /// Returns whether the work may begin.
  [[nodiscard]] bool has_acquired() const noexcept { return acquired_; }
  /// Returns whether the work has to stop, for whatever reason.
  [[nodiscard]] bool must_work_stop() const noexcept { return leaving_ || stopping_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// Drops its reference to the lock. Call once, after it has ended.
  void drop_lock() noexcept { context_.lock.reset(); }

 private:
  void run() noexcept override;
  /// Makes one step. Returns false if it has to wait.
  [[nodiscard]] bool advance();
  [[nodiscard]] bool poll_acquire();
  [[nodiscard]] bool poll_lead();
  [[nodiscard]] bool poll_renew();
  [[nodiscard]] bool poll_release();
  void acquired() noexcept;
  void begin_renewal();
  void lost(const char* how) noexcept;
  void leave() noexcept;
  void work_has_stopped();
  void end() noexcept;

  /// Returns the outcome of the current try, or of a new one; nothing while it is pending.
  [[nodiscard]] std::optional<ElectionTry::Outcome> poll_try(Clock::TimePoint deadline,
                                                             bool cancel);
  void report_failure() noexcept;
  void announce_leader();
  void record_event(const char* what) noexcept;
  /// Returns whether to stop renewing, because all work is done.
  [[nodiscard]] bool is_done() const noexcept;
  void wait_until(State state, Clock::TimePoint when) noexcept;
  [[nodiscard]] Poller poller() { return {.waker = weak_from_this(), .scheduler = scheduler()}; }
  void set_timers() noexcept;

  ElectionContext context_;
  const std::shared_ptr<DeferredCalls> announcements_;
  std::weak_ptr<Waker> observer_;
  Clock& clock_;
  // Destroyed at the end, because the clocks may be destroyed then:
  std::optional<Timer> timer_;       // by the clock of the election
  std::optional<Timer> call_timer_;  // by the clock of the lock

  State state_ = State::kAcquire;
  Backoff acquire_retry_;
  Backoff release_retry_;
  Clock::TimePoint until_ = Clock::TimePoint::max();     // end of the wait, in the states that wait
  Clock::TimePoint deadline_ = Clock::TimePoint::max();  // deadline of the renewal or the release
  std::optional<ElectionTry> try_;
  // For the release:
  std::unique_ptr<LockOperation> call_;
  std::optional<LeaderElectionRecord> released_;  // set while it is written
  std::string announced_;

  std::atomic<bool> stopping_ = false;
  std::atomic<bool> work_ended_ = false;
  std::atomic<bool> work_failed_ = false;
  std::atomic<bool> acquired_ = false;
  std::atomic<bool> leaving_ = false;
  std::atomic<bool> ended_ = false;
};

}  // namespace kube::detail
