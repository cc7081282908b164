// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_lock.hpp"

#include <memory>
#include <thread>

namespace kube::detail {

/// Makes a lock that a user wrote pollable: a thread of its own (`kube-lock`) calls its blocking
/// functions.
class BlockingLock final : public AsyncLock {
 public:
  /// Throws std::system_error if no thread can be started.
  BlockingLock(std::shared_ptr<ResourceLock> lock);
  ~BlockingLock() override { join(); }

  [[nodiscard]] std::unique_ptr<LockOperation> start(LockRequest request, Poller poller) override;
  void record_event(std::string message) noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return system_clock(); }
  /// Completes the requested calls, and ends the thread.
  void join() noexcept override;

 private:
  class Call;
  class Operation;
  struct State;

  const std::shared_ptr<ResourceLock> lock_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

/// Returns the pollable form of `lock`: its own, or one with a thread. Throws as lease_runtime()
/// and BlockingLock.
[[nodiscard]] std::shared_ptr<AsyncLock> polled_form(const std::shared_ptr<ResourceLock>& lock);

}  // namespace kube::detail
