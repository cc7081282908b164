// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/base/random.hpp>
#include <kube/controller/resource_lock.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube {

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
  /// Called on a thread of its own when somebody else is seen to hold the lease, or we do; empty for nobody.
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
/// Thread safety: run() from one thread at a time, the other methods from any thread.
class LeaderElector {
 public:
  /// Throws std::invalid_argument unless lease_duration > renew_deadline > 1.2 * retry_period > 0, the lock has an
  /// identity, and both on_started_leading and on_stopped_leading are there.
  LeaderElector(std::shared_ptr<ResourceLock> lock, LeaderElectionOptions options);

  /// Waits for the leadership and leads until it is lost or a stop is requested. After a stop the lease is renewed
  /// until the work has returned. Losing it is final: whoever wants to lead again calls run() again, and most
  /// programs rather end. Throws what on_started_leading and on_stopped_leading throw.
  void run(std::stop_token stop);

  /// Whether we hold the lease: false also when the lease duration has passed since the last renewal.
  [[nodiscard]] bool is_leader() const;
  /// Whom we saw holding the lease last; empty if nobody.
  [[nodiscard]] std::string leader() const;

  /// For a health check: what is wrong if we lead, but have not renewed the lease for its duration and `tolerance`.
  [[nodiscard]] std::optional<std::string> health_problem(Clock::Duration tolerance) const;
  static constexpr std::string_view kHealthCheckName = "leaderElection";

 private:
  class Announcer;
  enum class Outcome {
    kHeld,    // we hold the lease
    kFailed,  // try again
    kLost,    // somebody else leads, or shall lead
  };

  bool acquire(Announcer& announcer, std::stop_token stop);
  std::exception_ptr lead(Announcer& announcer, std::stop_token stop);
  void renew(Announcer& announcer, std::stop_token stop);
  void release();
  Outcome try_once(Announcer& announcer, Clock::TimePoint deadline, std::stop_token stop);
  Outcome acquire_or_renew(Clock::TimePoint deadline, std::stop_token stop);
  Outcome renew_coordinated(Clock::TimePoint deadline, std::stop_token stop);

  /// Throws unless the lock takes the record.
  Outcome write(const LeaderElectionRecord& record, Clock::TimePoint deadline,
                std::stop_token stop);

  /// The lock has taken `record`, which was sent at `at`.
  Outcome written(const LeaderElectionRecord& record, Clock::TimePoint at);

  [[nodiscard]] LockCall call(Clock::TimePoint deadline, std::stop_token stop) const;
  [[nodiscard]] LeaderElectionRecord own_record() const;
  /// The same leadership as in `term`, renewed now.
  [[nodiscard]] LeaderElectionRecord continued(const LeaderElectionRecord& term) const;
  [[nodiscard]] LeaderElectionRecord observed() const;
  void observe(const LeaderElectionRecord& record);
  [[nodiscard]] bool is_valid() const;
  /// Whether the record that was seen last names us, expired or not.
  [[nodiscard]] bool is_named() const;

  const std::shared_ptr<ResourceLock> lock_;
  const LeaderElectionOptions options_;
  const std::string identity_;
  const std::string lock_name_;
  const Logger log_;
  Clock& clock_;
  Gauge master_status_;
  Counter slow_path_;
  std::atomic<bool> running_ = false;
  Clock::TimePoint written_at_{};  // when the last successful write was sent; used by run() only

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  LeaderElectionRecord observed_;
  Clock::TimePoint observed_at_{};  // when it was last seen to change
  Clock::TimePoint held_until_{};   // by our last write
};

/// How long a request of the election may take, so that a single one cannot cost the lease: half of the renew
/// deadline, but at least a second.
[[nodiscard]] Clock::Duration election_request_timeout(Clock::Duration renew_deadline) noexcept;

}  // namespace kube
