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

/// An operation that a coroutine waits for. It is polled on the coroutine's queue, by the coroutine itself first and then
/// whenever its waker was woken; so nobody has to agree with another thread on who resumes the coroutine.
///
/// Destroying it cancels the operation. While a coroutine waits, that has to happen on its queue: elsewhere the program is
/// ended with a message.
class Suspension {
 public:
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  virtual ~Suspension();

  /// For await_suspend(). False: it is over, and the coroutine goes on at once. It may go on before this returns. A
  /// coroutine without a context gets a queue of its own.
  [[nodiscard]] bool begin(std::coroutine_handle<> coroutine, TaskContext* context,
                           std::stop_token stop);
  /// For await_resume(): throws what poll() or stopped() has thrown.
  void rethrow();

 protected:
  /// Throws std::bad_alloc.
  Suspension();

  /// For the operation; see engine/polling.hpp.
  [[nodiscard]] std::weak_ptr<Waker> waker() const noexcept;
  /// That of the queue; once poll() has been called.
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept;
  /// Has poll() called again, after others had their turn.
  void poll_again() noexcept;

 private:
  class Shell;

  /// Called once for each wait, before poll(), with a context that has a queue.
  virtual void begun(const TaskContext& context) { (void)context; }
  /// False if it goes on after a stop, as what it waits for ends by itself then.
  [[nodiscard]] virtual bool ends_on_stop() const noexcept { return true; }
  /// Goes on as far as it can without waiting. True if it is over. Before it returns false, it has arranged that its
  /// waker is woken, or wake_at() says when to poll.
  [[nodiscard]] virtual bool poll() = 0;
  /// Ends it in the way of the blocking form after a stop. poll() may not have been called.
  virtual void stopped() = 0;
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept {
    return Clock::TimePoint::max();
  }
  /// The clock of wake_at().
  [[nodiscard]] virtual Clock& clock() const noexcept { return system_clock(); }
  /// For a coroutine without a queue.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const;

  const std::shared_ptr<Shell> shell_;
};

/// A Suspension that ends with a result.
template <typename Result>
class Awaited : public Suspension {
 public:
  /// Once it is over.
  [[nodiscard]] virtual Result take() = 0;
};

/// Waits for an Awaited that others own.
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

/// Waits for an Awaited of its own.
template <typename Result>
class [[nodiscard]] Await : public AwaitRef<Result> {
 public:
  explicit Await(std::unique_ptr<Awaited<Result>> awaited, std::stop_token stop = {}) noexcept
      : AwaitRef<Result>(*awaited, std::move(stop)), awaited_(std::move(awaited)) {}

 private:
  std::unique_ptr<Awaited<Result>> awaited_;
};

}  // namespace kube::detail
