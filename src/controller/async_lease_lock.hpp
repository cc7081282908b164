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

/// The polled form of LeaseLock: it has a client of its own, whose connections run on the loop of
/// leases. The only user code that this loop calls is ClientOptions::on_request. The client's rate
/// limit does not delay renewals.
class AsyncLeaseLock final : public AsyncLock {
 public:
  /// For a lease on the server of `client`. Throws as the constructors of Client and Runtime.
  AsyncLeaseLock(const Client& client, LeaseLockOptions options);

  [[nodiscard]] std::unique_ptr<LockOperation> start(LockRequest request, Poller poller) override;
  void record_event(std::string message) noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return *client_.options().clock; }

 private:
  class Operation;

  const LeaseLockOptions options_;
  const Client client_;
  const Resource<coordination::v1::Lease> leases_;
  std::optional<coordination::v1::Lease> seen_;  // the version that an update replaces
};

/// Return the lease to create, and the one that replaces `seen`.
[[nodiscard]] coordination::v1::Lease new_lease(const LeaseLockOptions& options,
                                                const LeaderElectionRecord& record);
[[nodiscard]] coordination::v1::Lease changed_lease(
    const LeaseLockOptions& options, const std::optional<coordination::v1::Lease>& seen,
    const LeaderElectionRecord& record);
/// Returns the reference to the lease for events.
[[nodiscard]] core::v1::ObjectReference lease_reference(
    const LeaseLockOptions& options, const std::optional<coordination::v1::Lease>& seen);

}  // namespace kube::detail
