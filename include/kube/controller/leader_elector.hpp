// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/base/random.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/controller/resource_lock.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube {

namespace detail {
class ElectionRun;
class ObservedLease;
}  // namespace detail

/// Settings of a LeaderElector.
struct LeaderElectionOptions {
  /// How long other candidates wait for a renewal before they take over.
  Clock::Duration lease_duration = std::chrono::seconds{15};
  /// How long the leader tries to renew before it gives up.
  Clock::Duration renew_deadline = std::chrono::seconds{10};
  /// Time between two tries.
  Clock::Duration retry_period = std::chrono::seconds{2};
  /// Releases the lease at the end, so that another candidate need not wait for it to expire.
  bool release_on_cancel = false;
  /// Lets the server choose the leader; see LeaseCandidatePublisher.
  bool coordinated = false;
  std::string name{};  ///< name of the election, for metrics

  /// The leader's work, on a thread of its own. A stop is requested through the token when run() is
  /// stopped, and when the lease is lost; run() waits for the function to return. An exception ends
  /// the leadership, and propagates out of run().
  std::function<void(std::stop_token)> on_started_leading{};
  /// Called at the end of every run(), also if this process never led.
  std::function<void()> on_stopped_leading{};
  /// Called by a worker when the observed holder of the lease changes, including to this process.
  /// Empty if there is no holder.
  std::function<void(const std::string& identity)> on_new_leader{};

  /// Must advance while the machine is suspended: otherwise a leader that resumes considers an
  /// expired lease its own.
  Clock* clock = &boot_clock();
  /// The source of jitter between tries.
  Random random = system_random();
  /// Receives changes of the leader and failed requests.
  Logger log = stderr_logger();
  /// Registry for leader_election_master_status and leader_election_slowpath_total; null disables
  /// them.
  std::shared_ptr<Metrics> metrics{};
};

/// Leader election: of several candidates at most one leads, as long as their clocks run at about
/// the same speed. They may show different times.
///
/// A candidate acquires the lease when it has no holder, or when the candidate has observed it
/// unchanged for the lease duration. The leader renews it, and gives up early enough if it cannot.
///
/// One thread (`kube-lease`) renews all leases of a process. It calls no user code that may block.
/// A ResourceLock that a user wrote is called by a thread of its own (`kube-lock`).
///
/// Thread safety: run() and start() from one thread at a time, the other methods from any thread.
class LeaderElector {
 public:
  /// Throws std::invalid_argument unless lease_duration > renew_deadline > 1.2 * retry_period > 0,
  /// the lock has an identity, and both on_started_leading and on_stopped_leading are set.
  LeaderElector(std::shared_ptr<ResourceLock> lock, LeaderElectionOptions options);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;
  /// Stops a run begun by start(), and waits for it. Must not be called by any of the functions in
  /// the options.
  ~LeaderElector();

  /// Waits for the leadership and leads until it is lost or a stop is requested. After a stop the
  /// lease is renewed until the work has returned. A lost lease ends run(): call it again to stand
  /// for election again; most programs exit instead. Throws the exceptions of on_started_leading
  /// and on_stopped_leading.
  void run(std::stop_token stop);

  /// Non-blocking form of run(): continues until request_stop(), and ended() fires at the end.
  /// Exceptions of the functions in the options are logged. With a client whose Runtime has no
  /// threads everything happens on the program's loop; on_started_leading is called there as well
  /// and must return soon: the work counts as going on until its token is stopped. Throws
  /// std::logic_error if the elector is running, and std::system_error if no thread can be started.
  void start();
  /// Requests the end of a run begun by start().
  void request_stop() noexcept;
  /// Fires when the last start() has ended and on_stopped_leading has returned.
  [[nodiscard]] DoneSignal ended() const;

  /// Returns whether this process holds the lease. False once the lease duration has passed since
  /// the last renewal.
  [[nodiscard]] bool is_leader() const;
  /// Returns the last observed holder of the lease; empty if there is none.
  [[nodiscard]] std::string leader() const;

  /// For a health check: returns a problem if this process leads but has not renewed the lease for
  /// its duration plus `tolerance`.
  [[nodiscard]] std::optional<std::string> health_problem(Clock::Duration tolerance) const;
  /// The name that client-go gives to the check of health_problem().
  static constexpr std::string_view kHealthCheckName = "leaderElection";

 private:
  class Background;

  /// Throws std::logic_error if it is running already.
  void begin();
  /// Called when the lease is no longer renewed. Throws the exceptions of on_stopped_leading.
  void finish();
  [[nodiscard]] std::unique_ptr<detail::ElectionRun> make_run() const;

  const std::shared_ptr<ResourceLock> lock_;
  const LeaderElectionOptions options_;
  const std::string identity_;
  const std::string lock_name_;
  const Logger log_;
  const std::shared_ptr<detail::ObservedLease> lease_;
  Gauge master_status_;
  Counter slow_path_;
  std::atomic<bool> running_ = false;

  mutable std::mutex mutex_;
  std::shared_ptr<Background> background_;  // state of the last start(); guarded by mutex_
};

/// Returns the timeout of one request of the election, so that a single request cannot cost the
/// lease: half of the renew deadline, but at least a second.
[[nodiscard]] Clock::Duration election_request_timeout(Clock::Duration renew_deadline) noexcept;

}  // namespace kube
