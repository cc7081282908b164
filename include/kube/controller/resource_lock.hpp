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

/// The content of the lock: its holder, since when, and for how long without a renewal.
struct LeaderElectionRecord {
  std::string holder_identity{};  ///< empty: no holder
  int lease_duration_seconds = 0;
  MicroTime acquire_time{};
  MicroTime renew_time{};
  int leader_transitions = 0;
  std::string strategy{};  ///< for a coordinated election
  /// for a coordinated election: the candidate that should lead instead
  std::string preferred_holder{};

  friend bool operator==(const LeaderElectionRecord& a, const LeaderElectionRecord& b) = default;
};

/// Time limit and stop token of one call of a lock.
struct LockCall {
  /// Measured from the beginning of the call; no limit by default.
  Clock::Duration timeout = Clock::Duration::max();
  std::stop_token stop{};
};

/// Storage of the record: an object that all candidates see, with optimistic concurrency, so that
/// of two writers only one succeeds (client-go: resourcelock.Interface).
/// Thread safety: the methods are called by one thread at a time, which is reserved for the lock
/// while an election runs; so they may block.
class ResourceLock {
 public:
  virtual ~ResourceLock() = default;

  /// Returns the record, or nothing if the object does not exist. The lock remembers the version it
  /// saw. All three methods throw kube::Error if the server is unreachable or refuses, and after
  /// the timeout.
  virtual std::optional<LeaderElectionRecord> get(const LockCall& call) = 0;
  /// Throws an ApiError (already exists) if another candidate was faster.
  virtual void create(const LeaderElectionRecord& record, const LockCall& call) = 0;
  /// Replaces the version seen last. Throws an ApiError (conflict) if another candidate was faster.
  virtual void update(const LeaderElectionRecord& record, const LockCall& call) = 0;
  /// Records an event about the object. Neither blocks nor throws.
  virtual void record_event(std::string_view message) noexcept = 0;
  /// Returns the identity of the candidate that uses this lock.
  [[nodiscard]] virtual std::string_view identity() const noexcept = 0;
  /// Returns "namespace/name", for logs.
  [[nodiscard]] virtual std::string describe() const = 0;

 private:
  friend std::shared_ptr<detail::AsyncLock> detail::polled_form(
      const std::shared_ptr<ResourceLock>& lock);
  /// Returns the same lock without blocking calls; null if there is none, as for every lock that a
  /// user writes.
  [[nodiscard]] virtual std::shared_ptr<detail::AsyncLock> async_form() const;
};

/// Throws std::invalid_argument unless `type` is "leases", the only kind of lock still supported.
void check_lock_type(std::string_view type);

/// Returns the record that a Lease holds. Members that the Lease does not have are empty.
[[nodiscard]] LeaderElectionRecord to_record(const coordination::v1::LeaseSpec& spec);
/// Returns the spec of a Lease that holds the record.
[[nodiscard]] coordination::v1::LeaseSpec to_lease_spec(const LeaderElectionRecord& record);

}  // namespace kube
