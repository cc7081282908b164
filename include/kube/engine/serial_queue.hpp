// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/done_signal.hpp>
#include <kube/base/inside.hpp>
#include <kube/engine/delivery.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace kube {

class Runtime;

namespace detail {
class SerialQueueCore;
}

/// A strand: runs tasks of the program one at a time, in the order of their posts, on threads of a
/// Runtime. It has no thread of its own; any number of queues share the workers.
///
/// Thread safety: any method from any thread, also from a task of the queue.
class SerialQueue {
 public:
  /// How close() treats tasks that have not started.
  enum class Close : std::uint8_t {
    kDrain,    ///< run them
    kDiscard,  ///< destroy them
  };

  /// Tasks run on workers and may block. With Delivery::kInline they run on the loop's thread and
  /// must not block. Throws std::bad_alloc.
  explicit SerialQueue(Runtime& runtime, Delivery delivery = Delivery::kQueued);
  /// Closes the queue (kDiscard) without waiting for a running task. If tasks use objects that are
  /// destroyed with the queue, wait for closed() first.
  ~SerialQueue();
  SerialQueue(const SerialQueue&) = delete;
  SerialQueue& operator=(const SerialQueue&) = delete;

  /// Calls `task` after those posted before. Its exceptions are logged as errors. Returns false,
  /// and destroys the task, if the queue is closed or its Runtime has ended. Throws std::bad_alloc,
  /// and std::invalid_argument for an empty function.
  bool post(std::function<void()> task);
  /// Starts no further task until resume(). A task that has to wait for an event calls pause(),
  /// arranges for resume(), and returns: no thread is blocked meanwhile.
  void pause() noexcept;
  /// Ends a pause. No effect if the queue is not paused.
  void resume() noexcept;
  /// Refuses further tasks and ends a pause. Coroutines that wait on this queue resume as after a
  /// stop. Later calls can only change kDrain to kDiscard.
  void close(Close how) noexcept;
  /// Signals that the queue is closed and its last task has returned, or that the Runtime has
  /// ended. Throws std::bad_alloc.
  [[nodiscard]] DoneSignal closed() const;

 private:
  friend struct detail::Inside;

  const std::shared_ptr<detail::SerialQueueCore> core_;
};

}  // namespace kube
