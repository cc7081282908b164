// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/done_signal.hpp>
#include <kube/engine/suspension.hpp>
#include <kube/engine/task_promise.hpp>

#include <coroutine>
#include <stdexcept>
#include <utility>

namespace kube {

namespace detail {
struct TaskAccess;

[[nodiscard]] Await<bool> await_signal(const DoneSignal& signal);
}  // namespace detail

/// A coroutine that returns a T. It is lazy: it starts when it is awaited or passed to spawn().
///
///   kube::Task<void> restart(kube::Resource<Pod> pods, std::string name) {
///     const kube::Ref<Pod> pod = co_await pods.get_async(name);
///     const kube::DeleteOptions options{.uid = pod->metadata.uid.str()};
///     co_await pods.delete_async(name, options);
///   }
///   kube::spawn(runtime, restart(pods, "web-0"));
///
/// It runs on the SerialQueue that it was spawned on, and so does each Task that it awaits; a wait
/// blocks no thread. It may await other awaitables if these resume it on that queue; DoneSignal
/// does so for any callback. A Task is awaited at most once. Value parameters are copied into the
/// coroutine; references must outlive it.
///
/// A Task that was not started may be destroyed anywhere. Destroying one that waits cancels its
/// wait, and must happen on its queue, as it does when the awaiting coroutine is destroyed;
/// otherwise the program is ended with a message. To end a Task from another thread, request a
/// stop.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  class promise_type;

  Task() noexcept = default;
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (coroutine_) coroutine_.destroy();
      coroutine_ = std::exchange(other.coroutine_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Returns the result of the coroutine, or rethrows its exception. Throws std::logic_error if the
  /// Task was awaited before, or moved from.
  auto operator co_await() && noexcept { return Awaiter{coroutine_}; }

 private:
  friend struct detail::TaskAccess;
  explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> coroutine) noexcept
        : coroutine_(coroutine) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> awaiter) {
      if (!coroutine_ || coroutine_.promise().has_begun()) {
        throw std::logic_error("the awaited Task is empty, or was awaited before");
      }
      if constexpr (detail::HasTaskContext<Promise>) {
        coroutine_.promise().start(coroutine_, awaiter, &awaiter.promise().context());
      } else {
        coroutine_.promise().start(coroutine_, awaiter, nullptr);
      }
    }
    T await_resume() { return coroutine_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> coroutine_;
  };

  std::coroutine_handle<promise_type> coroutine_ = nullptr;
};

/// The promise type that the compiler requires of a coroutine.
template <typename T>
class Task<T>::promise_type final  // NOLINT(readability-identifier-naming): the language's name
    : public detail::TaskPromise<T> {
 public:
  [[nodiscard]] Task get_return_object() noexcept {
    return Task{std::coroutine_handle<promise_type>::from_promise(*this)};
  }
};

/// `co_await signal`: true when the signal is done, false if the Task is stopped first.
inline auto operator co_await(const DoneSignal& signal) { return detail::await_signal(signal); }

namespace detail {

/// Starts a Task by other means than co_await.
struct TaskAccess {
  template <typename T>
  [[nodiscard]] static typename Task<T>::promise_type& promise(const Task<T>& task) noexcept {
    return task.coroutine_.promise();
  }
  template <typename T>
  [[nodiscard]] static bool is_startable(const Task<T>& task) noexcept {
    return task.coroutine_ && !task.coroutine_.promise().has_begun();
  }
  template <typename T>
  static void start(const Task<T>& task, TaskCompletion& completion,
                    const TaskContext& context) noexcept {
    promise(task).start(task.coroutine_, completion, context);
  }
};

}  // namespace detail

}  // namespace kube
