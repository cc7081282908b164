// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/engine/task_promise.hpp>

#include <coroutine>
#include <memory>
#include <stop_token>
#include <utility>

namespace kube {
class Runtime;
}

namespace kube::detail {

class Scheduler;
class Waker;

/// An operation that a coroutine waits for. It is polled on the coroutine's queue: first by the
/// coroutine itself, then whenever its waker is woken. So threads need not agree on which one
/// resumes the coroutine.
///
/// Destroying it cancels the operation. While a coroutine waits, it must be destroyed on the
/// coroutine's queue; otherwise the program is ended with a message.
class Suspension {
 public:
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  virtual ~Suspension();

  /// Implements await_suspend(). Returns false if the operation is over, so that the coroutine
  /// continues at once. The coroutine may resume before this returns. A coroutine without a context
  /// gets a queue of its own.
  [[nodiscard]] bool begin(std::coroutine_handle<> coroutine, TaskContext* context,
                           std::stop_token stop);
  /// Implements await_resume(): rethrows the exception of poll() or stopped().
  void rethrow();

 protected:
  /// Throws std::bad_alloc.
  Suspension();

  /// The waker of the operation; see engine/polling.hpp.
  [[nodiscard]] std::weak_ptr<Waker> waker() const noexcept;
  /// The scheduler of the queue. Valid once poll() has been called.
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept;
  /// Requests another poll(), after other tasks of the queue have had their turn.
  void poll_again() noexcept;

 private:
  class Shell;

  /// Called once per wait, before poll(), with a context that has a queue.
  virtual void begun(const TaskContext& context) { (void)context; }
  /// False if the operation ends by itself after a stop, and is polled until then.
  [[nodiscard]] virtual bool ends_on_stop() const noexcept { return true; }
  /// Makes progress without waiting. Returns true if the operation is over. Before it returns
  /// false, it has arranged that the waker is woken, or wake_at() returns the time of the next
  /// poll.
  [[nodiscard]] virtual bool poll() = 0;
  /// Ends the operation as the blocking form ends after a stop. poll() may not have been called.
  virtual void stopped() = 0;
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept {
    return Clock::TimePoint::max();
  }
  /// The clock of wake_at().
  [[nodiscard]] virtual Clock& clock() const noexcept { return system_clock(); }
  /// The Runtime for a coroutine without a queue.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const;

  const std::shared_ptr<Shell> shell_;
};

/// A Suspension that ends with a result.
template <typename Result>
class Awaited : public Suspension {
 public:
  /// Returns the result, once the operation is over.
  [[nodiscard]] virtual Result take() = 0;
};

/// Awaits an operation that it does not own.
template <typename Result>
class AwaitRef {
 public:
  AwaitRef(Awaited<Result>& awaited, std::stop_token stop) noexcept
      : awaited_(&awaited), stop_(std::move(stop)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    if constexpr (HasTaskContext<Promise>) {
      return awaited_->begin(coroutine, &coroutine.promise().context(), std::move(stop_));
    } else {
      return awaited_->begin(coroutine, nullptr, std::move(stop_));
    }
  }
  Result await_resume() {
    awaited_->rethrow();
    return awaited_->take();
  }

 private:
  Awaited<Result>* awaited_;
  std::stop_token stop_;
};

/// Awaits an operation that it owns.
template <typename Result>
class [[nodiscard]] Await : public AwaitRef<Result> {
 public:
  explicit Await(std::unique_ptr<Awaited<Result>> awaited, std::stop_token stop = {}) noexcept
      : AwaitRef<Result>(*awaited, std::move(stop)), awaited_(std::move(awaited)) {}

 private:
  std::unique_ptr<Awaited<Result>> awaited_;
};

}  // namespace kube::detail
