// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/controller/resource_lock.hpp>

#include <mutex>
#include <string>
#include <utility>

namespace kube::detail {

/// The record of a lease as a candidate saw it last, and what follows from it by the candidate's own clock.
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
  /// It was read; remembers when it was seen to change.
  void found(const LeaderElectionRecord& record) {
    const std::lock_guard guard{mutex_};
    if (record != record_) observe_locked(record);
  }
  /// The lock has taken `record`, which was sent at `at`.
  void written(const LeaderElectionRecord& record, Clock::TimePoint at) {
    const std::lock_guard guard{mutex_};
    observe_locked(record);
    written_at_ = at;
    held_until_ = at + lease_duration_;
  }
  /// Nobody renews it any more: the candidate no longer claims to hold it.
  void disclaim() noexcept {
    const std::lock_guard guard{mutex_};
    if (record_.holder_identity == identity_) record_ = {};
  }

  /// Whether the record names the candidate, expired or not.
  [[nodiscard]] bool is_named() const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_;
  }
  /// Whether it has changed within the time that its holder asked for.
  [[nodiscard]] bool is_valid() const {
    const std::lock_guard guard{mutex_};
    return clock_.now() < observed_at_ + std::chrono::seconds{record_.lease_duration_seconds};
  }
  /// Whether the candidate leads: it was the last to write, less than a lease duration ago.
  [[nodiscard]] bool is_held() const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_ && clock_.now() < held_until_;
  }
  /// Whether the record names the candidate, but has not changed for the lease duration and `tolerance`.
  [[nodiscard]] bool is_overdue(Clock::Duration tolerance) const {
    const std::lock_guard guard{mutex_};
    return record_.holder_identity == identity_ &&
           clock_.now() - observed_at_ > lease_duration_ + tolerance;
  }
  /// When the last write that the lock has taken was sent.
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
  Clock::TimePoint held_until_{};  // by the last write
};

}  // namespace kube::detail
