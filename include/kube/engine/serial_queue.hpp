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

/// A strand: runs tasks of the program one at a time, in the order of their posts, on threads of a Runtime. It has no
/// thread of its own, and any number of queues share the workers.
///
/// Thread safety: any method from any thread, also from a task of the queue.
class SerialQueue {
 public:
  /// How close() treats tasks that have not begun.
  enum class Close : std::uint8_t {
    kDrain,    ///< they run
    kDiscard,  ///< they are destroyed
  };

  /// Tasks run on workers and may block; with Delivery::kInline on the loop's thread, where they must not.
  /// Throws std::bad_alloc.
  explicit SerialQueue(Runtime& runtime, Delivery delivery = Delivery::kQueued);
  /// Closes it (kDiscard) and does not wait for a task that runs: wait for closed() where tasks use what goes with the queue.
  ~SerialQueue();
  SerialQueue(const SerialQueue&) = delete;
  SerialQueue& operator=(const SerialQueue&) = delete;

  /// Has `task` called after those posted before. What it throws is logged as an error. False, and the task is destroyed,
  /// if the queue is closed or its Runtime has ended. Throws std::bad_alloc, and std::invalid_argument for an empty function.
  bool post(std::function<void()> task);
  /// Lets no further task begin until resume(). A task that has to wait for something calls it first, then arranges for
  /// resume(), and returns: no thread is held meanwhile.
  void pause() noexcept;
  void resume() noexcept;
  /// Refuses further tasks, and ends a pause. Coroutines that wait on this queue go on as after a stop. Later calls can only
  /// turn kDrain into kDiscard.
  void close(Close how) noexcept;
  /// Happens when the queue is closed and its last task has returned; also when the Runtime ends. Throws std::bad_alloc.
  [[nodiscard]] DoneSignal closed() const;

 private:
  friend struct detail::Inside;

  const std::shared_ptr<detail::SerialQueueCore> core_;
};

}  // namespace kube
