// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/controller/resource_lock.hpp>

#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {

/// The object that several locks share; writers must know its version.
struct MemoryLease {
  std::mutex mutex;
  // Guarded by mutex:
  std::optional<LeaderElectionRecord> record;
  int version = 0;
  std::vector<LeaderElectionRecord> history;

  void set(LeaderElectionRecord next) {
    const std::lock_guard guard{mutex};
    write_locked(std::move(next));
  }
  void write_locked(LeaderElectionRecord next) {
    record = std::move(next);
    ++version;
    history.push_back(*record);
  }
  std::optional<LeaderElectionRecord> get() {
    const std::lock_guard guard{mutex};
    return record;
  }
  std::size_t writes() {
    const std::lock_guard guard{mutex};
    return history.size();
  }
  LeaderElectionRecord write(std::size_t at) {
    const std::lock_guard guard{mutex};
    return history.at(at);
  }
};

/// A lock over a MemoryLease. A test may make calls fail, before or after their effect, or take
/// time.
class MemoryLock final : public ResourceLock {
 public:
  enum class Fault { kNone, kBefore, kAfter, kSlow };
  using Faults = std::function<Fault(std::string_view method, const LockCall& call)>;

  MemoryLock(MemoryLease& lease, std::string identity)
      : lease_(lease), identity_(std::move(identity)) {}

  void set_faults(Faults faults) {
    const std::lock_guard guard{mutex_};
    faults_ = std::move(faults);
  }
  /// Sets the function that kSlow calls between the effect and the response.
  void set_pause(std::function<void(const LockCall&)> pause) { pause_ = std::move(pause); }
  std::vector<std::string> calls() {
    const std::lock_guard guard{mutex_};
    return calls_;
  }
  std::vector<std::string> events() {
    const std::lock_guard guard{mutex_};
    return events_;
  }

  std::optional<LeaderElectionRecord> get(const LockCall& call) override {
    return with_faults("get", call, [&]() -> std::optional<LeaderElectionRecord> {
      seen_ = lease_.version;
      return lease_.record;
    });
  }
  void create(const LeaderElectionRecord& record, const LockCall& call) override {
    with_faults("create", call, [&] {
      if (lease_.record) throw ApiError{409, "already exists"};
      write_locked(record);
      return 0;
    });
  }
  void update(const LeaderElectionRecord& record, const LockCall& call) override {
    with_faults("update", call, [&] {
      if (!lease_.record) throw ApiError{404, "not found"};
      if (seen_ != lease_.version) throw ApiError{409, "conflict"};
      write_locked(record);
      return 0;
    });
  }
  void record_event(std::string_view message) noexcept override {
    try {
      const std::lock_guard guard{mutex_};
      events_.emplace_back(message);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): of tests without memory
    }
  }
  [[nodiscard]] std::string_view identity() const noexcept override { return identity_; }
  [[nodiscard]] std::string describe() const override { return "default/lock"; }

 private:
  void write_locked(const LeaderElectionRecord& record) {
    lease_.write_locked(record);
    seen_ = lease_.version;
  }
  template <typename Action>
  std::invoke_result_t<Action> with_faults(std::string_view method, const LockCall& call,
                                           Action action) {
    Faults faults;
    {
      const std::lock_guard guard{mutex_};
      calls_.emplace_back(method);
      faults = faults_;
    }
    const Fault fault = faults ? faults(method, call) : Fault::kNone;
    if (fault == Fault::kBefore) throw Error{"connection refused"};
    auto result = [&] {
      const std::lock_guard guard{lease_.mutex};
      return action();
    }();
    if (fault == Fault::kSlow) pause_(call);
    if (fault == Fault::kAfter) throw Error{"connection lost"};
    return result;
  }

  MemoryLease& lease_;
  const std::string identity_;
  std::function<void(const LockCall&)> pause_;
  int seen_ = 0;  // used by one thread at a time
  std::mutex mutex_;
  // Guarded by mutex_:
  Faults faults_;
  std::vector<std::string> calls_;
  std::vector<std::string> events_;
};

}  // namespace kube
