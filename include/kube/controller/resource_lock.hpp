// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/coordination/v1.hpp>
#include <kube/api/time.hpp>
#include <kube/base/clock.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube {

class ResourceLock;

namespace detail {
class AsyncLock;
std::shared_ptr<AsyncLock> polled_form(const std::shared_ptr<ResourceLock>& lock);
}  // namespace detail

/// Who leads, since when, and for how long without a renewal.
struct LeaderElectionRecord {
  std::string holder_identity{};  ///< empty: nobody
  int lease_duration_seconds = 0;
  MicroTime acquire_time{};
  MicroTime renew_time{};
  int leader_transitions = 0;
  std::string strategy{};          ///< of a coordinated election
  std::string preferred_holder{};  ///< of a coordinated election: who shall lead instead

  friend bool operator==(const LeaderElectionRecord& a, const LeaderElectionRecord& b) = default;
};

/// How long a call of a lock may take, and when to give it up.
struct LockCall {
  /// From the beginning of the call; by default there is no limit.
  Clock::Duration timeout = Clock::Duration::max();
  std::stop_token stop{};
};

/// Where the record is kept: an object that all candidates see, and that the server lets only one of two
/// writers change. The methods are called by one thread at a time: one that the lock has for itself while an election
/// runs, so they may block.
class ResourceLock {
 public:
  virtual ~ResourceLock() = default;

  /// The record, or nothing if the object does not exist. The lock remembers which version it saw.
  /// All three throw kube::Error if the server cannot be asked or refuses, and when the time is over.
  virtual std::optional<LeaderElectionRecord> get(const LockCall& call) = 0;
  /// Throws an ApiError (already exists) if somebody else was faster.
  virtual void create(const LeaderElectionRecord& record, const LockCall& call) = 0;
  /// Replaces the version seen last. Throws an ApiError (conflict) if somebody else was faster.
  virtual void update(const LeaderElectionRecord& record, const LockCall& call) = 0;
  /// Tells those who look at the object. Neither waits nor throws.
  virtual void record_event(std::string_view message) noexcept = 0;
  /// Who the candidate is that uses this lock.
  [[nodiscard]] virtual std::string_view identity() const noexcept = 0;
  /// For logs: "namespace/name".
  [[nodiscard]] virtual std::string describe() const = 0;

 private:
  friend std::shared_ptr<detail::AsyncLock> detail::polled_form(
      const std::shared_ptr<ResourceLock>& lock);
  /// The same lock without blocking calls; null if it has none, as all those that users write.
  [[nodiscard]] virtual std::shared_ptr<detail::AsyncLock> async_form() const;
};

/// Throws std::invalid_argument unless `type` is "leases", the only kind of lock that there still is.
void check_lock_type(std::string_view type);

/// The record in a Lease, and the other way round; what a Lease does not have is empty.
[[nodiscard]] LeaderElectionRecord to_record(const coordination::v1::LeaseSpec& spec);
[[nodiscard]] coordination::v1::LeaseSpec to_lease_spec(const LeaderElectionRecord& record);

}  // namespace kube
