// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/coordination/v1.hpp>
#include <kube/base/clock.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/event_recorder.hpp>
#include <kube/controller/resource_lock.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Settings of a LeaseLock.
struct LeaseLockOptions {
  std::string namespace_{};                     ///< namespace of the Lease
  std::string name{};                           ///< name of the Lease; created if it does not exist
  std::string identity{};                       ///< see make_identity()
  std::map<std::string, std::string> labels{};  ///< written on create, merged on update
  std::shared_ptr<EventRecorder> recorder{};    ///< null: no events for changes of the leader
  Clock* clock = &boot_clock();                 ///< must be the clock of the LeaderElector
};

/// The lock of a leader election, stored in a Lease. An election opens its own connections for it,
/// with the configuration and the options of the client, so that other traffic cannot delay
/// renewals; make the client from election_config(). Among the client's options, on_request is
/// called by the thread that renews leases; on_attempt, on_warning and the log are called by
/// workers; the rate limit is not applied.
/// Thread safety: as ResourceLock.
class LeaseLock final : public ResourceLock {
 public:
  /// Sends nothing yet.
  LeaseLock(const Client& client, LeaseLockOptions options);

  std::optional<LeaderElectionRecord> get(const LockCall& call) override;
  void create(const LeaderElectionRecord& record, const LockCall& call) override;
  void update(const LeaderElectionRecord& record, const LockCall& call) override;
  void record_event(std::string_view message) noexcept override;
  [[nodiscard]] std::string_view identity() const noexcept override { return options_.identity; }
  [[nodiscard]] std::string describe() const override {
    return options_.namespace_ + '/' + options_.name;
  }

 private:
  [[nodiscard]] std::shared_ptr<detail::AsyncLock> async_form() const override;

  const Client client_;
  const Resource<coordination::v1::Lease> leases_;
  const LeaseLockOptions options_;
  std::optional<coordination::v1::Lease> seen_;  // the version that update() replaces
};

/// Returns `config` adapted for the client of an election: no request may take so long that it
/// costs the lease.
[[nodiscard]] Config election_config(Config config, Clock::Duration renew_deadline);

}  // namespace kube
