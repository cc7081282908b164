// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_lock.hpp"

#include <kube/api/coordination/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/lease_lock.hpp>

#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

/// The polled form of LeaseLock: a client of its own, whose connections are on the loop of leases. Of the user's code only
/// ClientOptions::on_request is called by that loop. Renewals are not held back by the client's rate limit.
class AsyncLeaseLock final : public AsyncLock {
 public:
  /// For a lease of the server of `client`. Throws as the constructors of Client and Runtime.
  AsyncLeaseLock(const Client& client, LeaseLockOptions options);

  [[nodiscard]] std::unique_ptr<LockOperation> start_get(Clock::Duration timeout,
                                                         Poller poller) override;
  [[nodiscard]] std::unique_ptr<LockOperation> start_create(const LeaderElectionRecord& record,
                                                            Clock::Duration timeout,
                                                            Poller poller) override;
  /// Throws kube::Error if the lease has not been read yet.
  [[nodiscard]] std::unique_ptr<LockOperation> start_update(const LeaderElectionRecord& record,
                                                            Clock::Duration timeout,
                                                            Poller poller) override;
  void record_event(std::string message) noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return *client_.options().clock; }

 private:
  class Operation;

  const LeaseLockOptions options_;
  const Client client_;
  const Resource<coordination::v1::Lease> leases_;
  std::optional<coordination::v1::Lease> seen_;  // the version that an update replaces
};

/// The lease to create, and the one that takes the place of `seen`.
[[nodiscard]] coordination::v1::Lease new_lease(const LeaseLockOptions& options,
                                                const LeaderElectionRecord& record);
[[nodiscard]] coordination::v1::Lease changed_lease(
    const LeaseLockOptions& options, const std::optional<coordination::v1::Lease>& seen,
    const LeaderElectionRecord& record);
/// The object of events about the lease.
[[nodiscard]] core::v1::ObjectReference lease_reference(
    const LeaseLockOptions& options, const std::optional<coordination::v1::Lease>& seen);

}  // namespace kube::detail
