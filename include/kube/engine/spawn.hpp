// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/done_signal.hpp>
#include <kube/base/inside.hpp>
#include <kube/engine/delivery.hpp>
#include <kube/engine/serial_queue.hpp>
#include <kube/engine/task.hpp>

#include <coroutine>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace kube {

class Runtime;

/// Starts a Task that is not awaited, on a SerialQueue of its own: on workers, where it may block,
/// or with Delivery::kInline on the loop's thread, where it must not. A stop of `stop` ends each
/// wait of the Task, and of the Tasks that it awaits, as a stop passed to that call would.
///
/// The returned signal fires when the Task has ended and its coroutine is destroyed. Exceptions of
/// the Task are logged by the Runtime as errors (after a stop: at debug level). A Task, with the
/// objects that it owns, lives until it ends. If the Runtime ends first, waits end as after a stop,
/// and a Task that waits again after that is destroyed.
///
/// Throws std::bad_alloc, and std::invalid_argument for a Task that is empty or was started before.
DoneSignal spawn(Runtime& runtime, Task<void> task, Delivery delivery = Delivery::kQueued,
                 std::stop_token stop = {});
/// As above, on a queue of the program.
DoneSignal spawn(SerialQueue& queue, Task<void> task, std::stop_token stop = {});

namespace detail {

template <typename T>
Task<void> without_result(Task<T> task) {
  (void)co_await std::move(task);
}

/// The awaitable of resume_on().
class MoveTo {
 public:
  explicit MoveTo(std::shared_ptr<SerialQueueCore> queue) noexcept : queue_(std::move(queue)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <HasTaskContext Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> coroutine) const {
    return coroutine.promise().move_to(coroutine, queue_);
  }
  static void await_resume() noexcept {}

 private:
  std::shared_ptr<SerialQueueCore> queue_;
};

}  // namespace detail

/// As above, for a Task whose result is discarded.
template <typename T>
requires(!std::is_void_v<T>) DoneSignal
    spawn(Runtime& runtime, Task<T> task, Delivery delivery = Delivery::kQueued,
          std::stop_token stop = {}) {
  return spawn(runtime, detail::without_result(std::move(task)), delivery, std::move(stop));
}

/// `co_await resume_on(queue)`: the Task continues on `queue`, also after each of its waits. When
/// it ends, the Task that awaits it continues on its own queue. Throws std::logic_error if `queue`
/// belongs to another Runtime.
[[nodiscard]] inline auto resume_on(const SerialQueue& queue) {
  return detail::MoveTo{detail::Inside::core(queue)};
}

}  // namespace kube
