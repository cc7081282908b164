// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_lock.hpp"
#include "observed_lease.hpp"

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/controller/leader_elector.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

/// Shared by all steps of one election.
struct ElectionContext {
  const LeaderElectionOptions& options;
  std::shared_ptr<AsyncLock> lock;
  std::shared_ptr<ObservedLease> lease;
  std::string identity;
  std::string lock_name;
  Logger log;  ///< may be called by the loop
  Gauge master_status;
  Counter slow_path;

  [[nodiscard]] Clock& clock() const noexcept { return *options.clock; }
  /// Returns the timeout of a call that has to end at `deadline`.
  [[nodiscard]] Clock::Duration call_timeout(Clock::TimePoint deadline) const;
  /// Returns a record in which the candidate leads from now on.
  [[nodiscard]] LeaderElectionRecord own_record() const;
  /// Returns the record of the same leadership as in `term`, renewed now.
  [[nodiscard]] LeaderElectionRecord continued(const LeaderElectionRecord& term) const;
};

/// One try to acquire or renew the lease: reads it if necessary, and writes it if no other
/// candidate holds it. See engine/polling.hpp.
class ElectionTry {
 public:
  enum class Outcome : std::uint8_t {
    kHeld,    ///< the candidate holds the lease
    kFailed,  ///< to be tried again
    kLost,    ///< another candidate leads, or is preferred by the server
  };

  /// `context` must outlive it. Does nothing before the first poll.
  ElectionTry(const ElectionContext& context, Clock::TimePoint deadline, Poller poller);
  ElectionTry(const ElectionTry&) = delete;
  ElectionTry& operator=(const ElectionTry&) = delete;

  /// Returns nothing while it is pending. Throws the exceptions of the lock; the try has failed
  /// then.
  [[nodiscard]] std::optional<Outcome> poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  [[nodiscard]] Clock::TimePoint call_deadline() const noexcept;
  void cancel() noexcept;

 private:
  enum class Step : std::uint8_t {
    kNew,    ///< nothing has been sent
    kRenew,  ///< writes over the version of the lease seen last, without reading it again
    kRead,   ///< reads the lease
    kWrite,  ///< creates or updates it
  };

  void begin();
  void read();
  [[nodiscard]] Outcome written();
  /// Returns the outcome for the lease that was read; nothing if it is being written now.
  [[nodiscard]] std::optional<Outcome> decide(const std::optional<LeaderElectionRecord>& found);
  [[nodiscard]] std::optional<Outcome> decide_coordinated(const LeaderElectionRecord& found);
  void write(LeaderElectionRecord record, LockRequest::Verb verb = LockRequest::Verb::kUpdate);
  void renewal_failed(const std::exception& error);

  const ElectionContext& context_;
  const Clock::TimePoint deadline_;
  const Poller poller_;
  Step step_ = Step::kNew;
  bool canceled_ = false;
  std::unique_ptr<LockOperation> operation_;
  // For the write:
  LeaderElectionRecord record_;
  Clock::TimePoint sent_at_{};
};

}  // namespace kube::detail
