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

/// The steps of an election, taken by the loop of the lease (`kube-lease`). It calls no code of the user: the work of the
/// leader is done elsewhere, by who calls has_acquired() and tells of its end (ElectionRun).
///
///    kAcquire ◄────► kAcquireWait ─────── stop ───────────────────────────► kEnded
///       │ held                                                                ▲
///       ▼           due                                                       │
///     kLead ───────────────► kRenew ◄────► kRenewWait                         │
///     ▲  │ ▲       held        │               │                              │
///     │  │ └───────────────────┘               │                              │
///     │  │      work has ended, lost, or not renewed until the deadline       │
///     │  └───────────────┬─────┴───────────────┘                              │
///     │                  ▼         work has ended                             │
///     │               kStopWork ─────────────────► kRelease ◄─► kReleaseWait ─┘
class Election final : public Job {
 public:
  enum class State : std::uint8_t {
    kAcquire,      ///< a try to acquire the lease is under way
    kAcquireWait,  ///< another candidate holds it, or the try has failed: waits for the next try
    kLead,         ///< holds the lease, and waits until it has to be renewed
    kRenew,        ///< a try to renew it is under way
    kRenewWait,    ///< that has failed: waits for another try, until the deadline
    kStopWork,     ///< does not lead any more, and waits until the work has ended
    kRelease,      ///< gives the lease back
    kReleaseWait,  ///< another writer was faster: waits for another try
    kEnded,        ///< nothing follows
  };

  /// `announcements` calls on_new_leader; null if there is none. Throws std::bad_alloc.
  Election(ElectionContext context, std::shared_ptr<DeferredCalls> announcements);

  /// Once. `observer` is woken when one of the questions below has another answer.
  void start(std::weak_ptr<Waker> observer) noexcept;

  void request_stop() noexcept;
  /// The work, which has_acquired() asked for, has returned or thrown. It ends the leadership if it has thrown or a stop
  /// was requested; else the lease is renewed until one is.
  enum class Work : std::uint8_t { kReturned, kFailed };
  void work_ended(Work how) noexcept;

  /// Whether the work may begin.
  [[nodiscard]] bool has_acquired() const noexcept { return acquired_; }
  /// Whether the work has to stop, for whatever reason.
  [[nodiscard]] bool must_work_stop() const noexcept { return leaving_ || stopping_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// Gives up its part of the lock. Once, after it has ended.
  void drop_lock() noexcept { context_.lock.reset(); }

 private:
  void run() noexcept override;
  /// Goes on by one step. False if it has to wait.
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

  /// The outcome of the try that is under way, or of a new one; nothing while it is pending.
  [[nodiscard]] std::optional<ElectionTry::Outcome> poll_try(Clock::TimePoint deadline,
                                                             bool cancel);
  void report_failure() noexcept;
  void announce_leader();
  void record_event(const char* what) noexcept;
  /// Whether to stop renewing, as all is done.
  [[nodiscard]] bool is_done() const noexcept;
  void wait_until(State state, Clock::TimePoint when) noexcept;
  [[nodiscard]] Poller poller() { return {.waker = weak_from_this(), .scheduler = scheduler()}; }
  void set_timers() noexcept;

  ElectionContext context_;
  const std::shared_ptr<DeferredCalls> announcements_;
  std::weak_ptr<Waker> observer_;
  Clock& clock_;
  // Until it has ended, as the clocks may go then:
  std::optional<Timer> timer_;       // by the clock of the election
  std::optional<Timer> call_timer_;  // by that of the lock

  State state_ = State::kAcquire;
  Backoff acquire_retry_;
  Backoff release_retry_;
  Clock::TimePoint until_ = Clock::TimePoint::max();     // of the states that wait
  Clock::TimePoint deadline_ = Clock::TimePoint::max();  // of the renewal or the release
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
