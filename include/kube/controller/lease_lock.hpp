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

struct LeaseLockOptions {
  std::string namespace_{};
  std::string name{};
  std::string identity{};                       ///< see make_identity()
  std::map<std::string, std::string> labels{};  ///< written on create, merged on update
  std::shared_ptr<EventRecorder> recorder{};    ///< null: changes of the leader make no events
  Clock* clock = &boot_clock();  ///< that of the LeaderElector, whose deadlines it keeps
};

/// The lock of a leader election, kept in a Lease. An election makes connections of its own for it, with the configuration
/// and the options of the client, so that nothing else holds up the renewals; make the client from election_config(). Of
/// these options on_request is called by the thread that renews leases, on_attempt, on_warning and the log by workers; a
/// rate limit is not applied. Thread safety: as ResourceLock.
class LeaseLock final : public ResourceLock {
 public:
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

/// `config` for the client of an election: no request may take so long that it costs the lease.
[[nodiscard]] Config election_config(Config config, Clock::Duration renew_deadline);

}  // namespace kube
