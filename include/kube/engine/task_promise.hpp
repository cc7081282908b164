// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace kube::detail {

class QueueHop;
class SerialQueueCore;

/// The queue that a coroutine runs on, and the stop token that ends its waits.
struct TaskContext {
  std::shared_ptr<SerialQueueCore> queue = nullptr;
  std::stop_token stop = {};
  /// True if it was spawned: the end of its Runtime may destroy it.
  bool is_spawned = false;
};

/// Notified of the end of a Task that was started without co_await.
class TaskCompletion {
 public:
  /// Called on the queue that the Task was started on.
  virtual void completed() noexcept = 0;

 protected:
  ~TaskCompletion() = default;
};

/// Resumes a coroutine on the calling thread, and then, one after the other, the coroutines that
/// become ready because of that: a coroutine that awaits another returns to this loop first.
/// Nothing nests, however long the chain of awaits is. (g++ compiles symmetric transfer to a tail
/// call only with optimisation.)
void resume_coroutine(std::coroutine_handle<> coroutine) noexcept;

/// The part of a Task's promise that does not depend on its result.
class TaskPromiseBase {
 public:
  struct FinalAwaiter {
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    static void await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      ended.promise().end();
    }
    static void await_resume() noexcept {}
  };

  TaskPromiseBase(const TaskPromiseBase&) = delete;
  TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;

  [[nodiscard]] static std::suspend_always initial_suspend() noexcept { return {}; }
  [[nodiscard]] static FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] TaskContext& context() noexcept { return context_; }
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }

  /// Starts this coroutine for an awaiting one, which continues at the end: a Task, whose context
  /// is inherited, or any other coroutine.
  void start(std::coroutine_handle<> self, std::coroutine_handle<> awaiter,
             const TaskContext* context) noexcept;
  /// Starts on the calling thread, which runs the queue of `context`.
  void start(std::coroutine_handle<> self, TaskCompletion& completion,
             const TaskContext& context) noexcept;
  /// Implements resume_on(): continues `self`, the coroutine of this promise, on `queue`. Returns
  /// false if it runs there already. Throws std::logic_error if `queue` belongs to another Runtime,
  /// or the Runtime has ended.
  bool move_to(std::coroutine_handle<> self, const std::shared_ptr<SerialQueueCore>& queue);

 protected:
  TaskPromiseBase() = default;
  ~TaskPromiseBase();

 private:
  friend class QueueHop;
  friend void resume_coroutine(std::coroutine_handle<> coroutine) noexcept;
  struct Pending;

  void end() noexcept;
  void arrive() noexcept;
  void resume_soon(std::coroutine_handle<> coroutine) noexcept;

  TaskContext context_;
  std::shared_ptr<SerialQueueCore> home_;  ///< the queue it was started on
  std::shared_ptr<QueueHop> hop_;          ///< reused for the way back
  std::coroutine_handle<> awaiter_;
  TaskCompletion* completion_ = nullptr;
  bool has_begun_ = false;
  std::exception_ptr error_;
  // Used by the loop of resume_coroutine():
  TaskPromiseBase* next_ = nullptr;
  std::coroutine_handle<> resumed_;
};

/// The promise of a Task with a result.
template <typename T>
class TaskPromise : public TaskPromiseBase {
 public:
  template <typename U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  /// Returns the result of a coroutine that has ended. Rethrows its exception.
  [[nodiscard]] T take() {
    if (error()) std::rethrow_exception(error());
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  static void return_void() noexcept {}
  void take() const {
    if (error()) std::rethrow_exception(error());
  }
};

/// True for the promises of this library's coroutines, which have a TaskContext.
template <typename Promise>
concept HasTaskContext = std::is_base_of_v<TaskPromiseBase, Promise>;

}  // namespace kube::detail
