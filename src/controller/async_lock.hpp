// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/deferred_calls.hpp"
#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/controller/resource_lock.hpp>
#include <kube/engine/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kube::detail {

/// A call of a method of ResourceLock.
struct LockRequest {
  enum class Verb : std::uint8_t { kGet, kCreate, kUpdate };

  Verb verb = Verb::kGet;
  /// The record to write.
  LeaderElectionRecord record = {};
  Clock::Duration timeout = Clock::Duration::max();
};

/// One call of a lock. See engine/polling.hpp.
class LockOperation {
 public:
  virtual ~LockOperation() = default;

  /// Throws as the method of ResourceLock.
  [[nodiscard]] virtual Poll poll() = 0;
  /// Measured by AsyncLock::clock().
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept {
    return Clock::TimePoint::max();
  }
  /// Returns when it times out, by the clock of the election; TimePoint::max() if it ends by
  /// itself.
  [[nodiscard]] virtual Clock::TimePoint deadline() const noexcept {
    return Clock::TimePoint::max();
  }
  /// Ends it soon, usually with an error. It must still be polled until it has ended.
  virtual void cancel() noexcept = 0;
  /// Returns the record that get() has read, once it is ready.
  [[nodiscard]] virtual std::optional<LeaderElectionRecord> take_record() { return std::nullopt; }
};

/// The form of a ResourceLock that an election polls.
///
/// Thread safety: one operation at a time; polled by the loop of runtime().
class AsyncLock {
 public:
  explicit AsyncLock(std::shared_ptr<Runtime> runtime)
      : runtime_(std::move(runtime)),
        calls_(std::make_shared<DeferredCalls>(Inside::core(*runtime_))) {}
  virtual ~AsyncLock() = default;
  AsyncLock(const AsyncLock&) = delete;
  AsyncLock& operator=(const AsyncLock&) = delete;

  /// Throws std::bad_alloc, or kube::Error for an update of a lease that has not been read yet.
  [[nodiscard]] virtual std::unique_ptr<LockOperation> start(LockRequest request,
                                                             Poller poller) = 0;
  /// As ResourceLock::record_event(), on another thread.
  virtual void record_event(std::string message) noexcept = 0;
  /// The clock of LockOperation::wake_at().
  [[nodiscard]] virtual Clock& clock() const noexcept = 0;
  /// Waits until the lock makes no more calls. Called once, by a thread that may block, after the
  /// last operation.
  virtual void join() noexcept {}

  /// Returns the Runtime whose loop polls the election.
  [[nodiscard]] const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }
  /// Returns the queue for log lines and other user code, which that loop must not call.
  [[nodiscard]] const std::shared_ptr<DeferredCalls>& calls() const noexcept { return calls_; }

 private:
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<DeferredCalls> calls_;
};

}  // namespace kube::detail
