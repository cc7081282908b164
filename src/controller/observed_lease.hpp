// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/controller/resource_lock.hpp>

#include <mutex>
#include <string>
#include <utility>

namespace kube::detail {

/// The record of a lease as the candidate last observed it, with validity by the candidate's own
/// clock.
///
/// Thread safety: all methods may be called from any thread.
class ObservedLease {
 public:
  ObservedLease(Clock& clock, std::string identity, Clock::Duration lease_duration)
      : clock_(clock), identity_(std::move(identity)), lease_duration_(lease_duration) {}

  [[nodiscard]] LeaderElectionRecord record() const {
    const std::lock_guard guard{mutex_};
    return record_;
  }
  [[nodiscard]] std::string holder() const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity;
  }
  /// Records a read; remembers when the record was observed to change.
  void found(const LeaderElectionRecord& record) {
    const std::lock_guard guard{mutex_};
    if (record != record_) observe_locked(record);
  }
  /// Records a successful write of `record`, which was sent at `at`.
  void written(const LeaderElectionRecord& record, Clock::TimePoint at) {
    const std::lock_guard guard{mutex_};
    observe_locked(record);
    written_at_ = at;
    held_until_ = at + lease_duration_;
  }
  /// Called when the lease is no longer renewed: the candidate no longer claims to hold it.
  void disclaim() noexcept {
    const std::lock_guard guard{mutex_};
    if (record_.holder_identity == identity_) record_ = {};
  }

  /// Returns whether the record names the candidate, expired or not.
  [[nodiscard]] bool is_named() const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_;
  }
  /// Returns whether it has changed within its lease duration.
  [[nodiscard]] bool is_valid() const {
    const std::lock_guard guard{mutex_};
    return clock_.now() < observed_at_ + std::chrono::seconds{record_.lease_duration_seconds};
  }
  /// Returns whether the candidate leads: it was the last to write, less than a lease duration ago.
  [[nodiscard]] bool is_held() const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_ && clock_.now() < held_until_;
  }
  /// Returns whether the record names the candidate, but has not changed for the lease duration
  /// plus `tolerance`.
  [[nodiscard]] bool is_overdue(Clock::Duration tolerance) const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_ &&
           clock_.now() - observed_at_ > lease_duration_ + tolerance;
  }
  /// Returns when the last successful write was sent.
  [[nodiscard]] Clock::TimePoint written_at() const {
    const std::lock_guard guard{mutex_};
    return written_at_;
  }

 private:
  void observe_locked(const LeaderElectionRecord& record) {
    record_ = record;
    observed_at_ = clock_.now();
  }

  Clock& clock_;
  const std::string identity_;
  const Clock::Duration lease_duration_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  LeaderElectionRecord record_;
  Clock::TimePoint observed_at_{};
  Clock::TimePoint written_at_{};
  Clock::TimePoint held_until_{};  // set by the last write
};

}  // namespace kube::detail
