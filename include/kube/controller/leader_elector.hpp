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

struct LeaderElectionOptions {
  /// How long others wait for a renewal before they take over.
  Clock::Duration lease_duration = std::chrono::seconds{15};
  /// How long the leader tries to renew before it gives up.
  Clock::Duration renew_deadline = std::chrono::seconds{10};
  /// How long to wait between two tries.
  Clock::Duration retry_period = std::chrono::seconds{2};
  /// Give the lease back at the end, so that another candidate need not wait for it to expire.
  bool release_on_cancel = false;
  /// Leave it to the server who leads; see LeaseCandidatePublisher.
  bool coordinated = false;
  std::string name{};  ///< of the election, for metrics

  /// The work of the leader, on a thread of its own. The token is stopped when run() is, and when the lease is
  /// lost; run() waits for it to return. What it throws ends the leadership, and comes out of run().
  std::function<void(std::stop_token)> on_started_leading{};
  /// Called at the end of run() in any case, also if we never led.
  std::function<void()> on_stopped_leading{};
  /// Called by a worker when somebody else is seen to hold the lease, or we do; empty for nobody.
  std::function<void(const std::string& identity)> on_new_leader{};

  /// Has to go on while the machine is suspended, or a leader that wakes up takes an expired lease for its own.
  Clock* clock = &boot_clock();
  Random random = system_random();
  Logger log = stderr_logger();
  std::shared_ptr<Metrics> metrics{};
};

/// Sees to it that of several candidates at most one leads, as long as their clocks run at about the same speed; they
/// may show any time.
///
/// A candidate takes the lease when nobody holds it, or when it has seen it unchanged for as long as the
/// holder said. The leader renews it, and gives up early enough if it cannot.
///
/// All leases of a process are renewed by one thread (`kube-lease`), which calls neither handlers nor other code of the
/// user that may block. A ResourceLock that a user wrote is called by a thread of its own (`kube-lock`) meanwhile.
///
/// Thread safety: run() and start() from one thread at a time, the other methods from any thread.
class LeaderElector {
 public:
  /// Throws std::invalid_argument unless lease_duration > renew_deadline > 1.2 * retry_period > 0, the lock has an
  /// identity, and both on_started_leading and on_stopped_leading are there.
  LeaderElector(std::shared_ptr<ResourceLock> lock, LeaderElectionOptions options);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;
  /// Ends what start() has begun, and waits for it. None of the functions of the options may destroy it.
  ~LeaderElector();

  /// Waits for the leadership and leads until it is lost or a stop is requested. After a stop the lease is renewed
  /// until the work has returned. Losing it is final: whoever wants to lead again calls run() again, and most
  /// programs rather end. Throws what on_started_leading and on_stopped_leading throw.
  void run(std::stop_token stop);

  /// The same without waiting: it goes on until request_stop(), and ended() tells of the end. What the functions of the
  /// options throw is logged. With a client whose Runtime has no threads everything happens on the program's loop;
  /// on_started_leading is called there, too, and must return soon: the work goes on until its token is stopped. Throws
  /// std::logic_error if the elector is running, and std::system_error if there is no thread for it.
  void start();
  /// Ends a run that start() has begun.
  void request_stop() noexcept;
  /// Happens when the last start() has ended and on_stopped_leading has returned.
  [[nodiscard]] DoneSignal ended() const;

  /// Whether we hold the lease: false also when the lease duration has passed since the last renewal.
  [[nodiscard]] bool is_leader() const;
  /// Whom we saw holding the lease last; empty if nobody.
  [[nodiscard]] std::string leader() const;

  /// For a health check: what is wrong if we lead, but have not renewed the lease for its duration and `tolerance`.
  [[nodiscard]] std::optional<std::string> health_problem(Clock::Duration tolerance) const;
  static constexpr std::string_view kHealthCheckName = "leaderElection";

 private:
  class Background;

  /// Throws std::logic_error if it is running already.
  void begin();
  /// Nobody renews the lease any more. Throws what on_stopped_leading throws.
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
  std::shared_ptr<Background> background_;  // of the last start(); guarded by mutex_
};

/// How long a request of the election may take, so that a single one cannot cost the lease: half of the renew
/// deadline, but at least a second.
[[nodiscard]] Clock::Duration election_request_timeout(Clock::Duration renew_deadline) noexcept;

}  // namespace kube
