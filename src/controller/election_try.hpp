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

/// All steps of one election share this.
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
  /// How long a call may take that has to end at `deadline`.
  [[nodiscard]] Clock::Duration call_timeout(Clock::TimePoint deadline) const;
  /// The candidate leads from now on.
  [[nodiscard]] LeaderElectionRecord own_record() const;
  /// The same leadership as in `term`, renewed now.
  [[nodiscard]] LeaderElectionRecord continued(const LeaderElectionRecord& term) const;
};

/// One try to acquire or renew the lease: reads it if need be, and writes it if nobody else holds it. See
/// engine/polling.hpp.
class ElectionTry {
 public:
  enum class Outcome : std::uint8_t {
    kHeld,    ///< the candidate holds the lease
    kFailed,  ///< try again
    kLost,    ///< another candidate leads, or shall lead
  };

  /// `context` must outlive it. Nothing happens before the first poll.
  ElectionTry(const ElectionContext& context, Clock::TimePoint deadline, Poller poller);
  ElectionTry(const ElectionTry&) = delete;
  ElectionTry& operator=(const ElectionTry&) = delete;

  /// Nothing while it is pending. Throws what the lock throws; then the try has failed.
  [[nodiscard]] std::optional<Outcome> poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  [[nodiscard]] Clock::TimePoint call_deadline() const noexcept;
  void cancel() noexcept;

 private:
  enum class Step : std::uint8_t {
    kNew,    ///< nothing has been done
    kRenew,  ///< writes the version of the lease that was seen last, without reading it again
    kRead,   ///< reads the lease
    kWrite,  ///< creates or updates it
  };

  void begin();
  void read();
  [[nodiscard]] Outcome written();
  /// The outcome for the lease that was read; nothing if it is written now.
  [[nodiscard]] std::optional<Outcome> decide(const std::optional<LeaderElectionRecord>& found);
  [[nodiscard]] std::optional<Outcome> decide_coordinated(const LeaderElectionRecord& found);
  void write(LeaderElectionRecord record);
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
