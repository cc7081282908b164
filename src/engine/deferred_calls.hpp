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

/// Calls user code on workers, one call at a time and in order, on behalf of a thread that must not
/// run it.
///
/// Thread safety: all methods may be called from any thread.
class DeferredCalls final : public Job {
 public:
  explicit DeferredCalls(const std::shared_ptr<Scheduler>& scheduler);

  /// Returns false and drops `call` if the queue is full, memory is exhausted, or after close().
  /// Exceptions of `call` are swallowed.
  bool push(std::function<void()> call) noexcept;
  /// Refuses further calls. Queued calls are still made.
  void close() noexcept;
  /// Sets the waker that is woken whenever the last call has returned.
  void wake_when_idle(std::weak_ptr<Waker> waker) noexcept;
  /// True if no call is queued or running.
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

/// Returns a log whose lines are passed to `to` on a worker. Excess lines are dropped, and their
/// number is logged.
[[nodiscard]] Logger deferred(const Logger& to, std::shared_ptr<DeferredCalls> calls);

}  // namespace kube::detail
