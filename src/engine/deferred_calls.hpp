// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"
#include <kube/base/log.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "job.hpp"

namespace kube::detail {

/// Has user code called by workers, one call at a time and in order, on behalf of a thread that must not run it.
///
/// Thread safety: all methods may be called from any thread.
class DeferredCalls final : public Job {
 public:
  explicit DeferredCalls(const std::shared_ptr<Scheduler>& scheduler);

  /// Returns false, and calls nothing, if too many wait already, there is no memory, or after close(). What `call` throws
  /// is swallowed.
  bool push(std::function<void()> call) noexcept;
  /// Refuses further calls; those that wait are still made.
  void close() noexcept;
  /// From now on `waker` is woken whenever the last call has returned.
  void wake_when_idle(std::weak_ptr<Waker> waker) noexcept;
  /// Whether no call waits or is under way.
  [[nodiscard]] bool is_idle() const noexcept;

  static constexpr std::size_t kMostWaiting = 1000;

 private:
  void run() noexcept override;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::list<std::function<void()>> waiting_;
  bool calling_ = false;
  bool closed_ = false;
  std::weak_ptr<Waker> waker_;
};

/// A log whose lines `to` receives on a worker. Lines that are too many are dropped, and their number is logged.
[[nodiscard]] Logger deferred(const Logger& to, std::shared_ptr<DeferredCalls> calls);

}  // namespace kube::detail
