// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/done_signal.hpp>
#include <kube/engine/serial_queue.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "job.hpp"

namespace kube::detail {

/// An intrusive entry of a SerialQueueCore: enqueueing it neither allocates nor fails.
class QueueTask : public boost::intrusive::list_base_hook<> {
 public:
  QueueTask() = default;
  QueueTask(const QueueTask&) = delete;
  QueueTask& operator=(const QueueTask&) = delete;

  /// Called on the queue, once per enqueue(). May destroy the entry.
  virtual void run() noexcept = 0;
  /// True for a function of the program, which close(kDiscard) destroys; false for a step of a
  /// coroutine.
  [[nodiscard]] virtual bool is_function() const noexcept { return false; }

 protected:
  virtual ~QueueTask() = default;

 private:
  friend class SerialQueueCore;
  std::shared_ptr<void> keep_;  // set while the entry is in a queue; guarded by the queue
};

/// A coroutine that waits on a queue.
class QueueWaiter : public boost::intrusive::list_base_hook<> {
 public:
  QueueWaiter() = default;
  QueueWaiter(const QueueWaiter&) = delete;
  QueueWaiter& operator=(const QueueWaiter&) = delete;
  /// Resumes the coroutine as after a stop, in a step of the queue.
  virtual void stop() noexcept = 0;

 protected:
  virtual ~QueueWaiter() = default;
};

/// Implements SerialQueue. Also runs the steps of coroutines (engine/task.hpp), which close() does
/// not refuse.
///
/// Ownership: shared by the SerialQueue and by the functions and coroutines that are in the queue.
class SerialQueueCore final : public Job {
 public:
  [[nodiscard]] static std::shared_ptr<SerialQueueCore> make(std::shared_ptr<Scheduler> scheduler,
                                                             Delivery delivery);
  SerialQueueCore(std::shared_ptr<Scheduler> scheduler, Delivery delivery) noexcept;
  ~SerialQueueCore() override;

  /// The methods of SerialQueue.
  bool post(std::function<void()> task);
  void pause() noexcept;
  void resume() noexcept;
  void close(SerialQueue::Close how) noexcept;
  [[nodiscard]] DoneSignal closed();
  [[nodiscard]] std::string_view name() const noexcept override {
    return "a serial queue or coroutine";
  }

  /// Does nothing if `task` is in the queue already. Releases `keep` after the run.
  void enqueue(QueueTask& task, std::shared_ptr<void> keep = nullptr) noexcept;
  /// Removes a queued task.
  void withdraw(QueueTask& task) noexcept;
  /// The queue whose task the calling thread runs, or null.
  [[nodiscard]] static SerialQueueCore* current() noexcept;
  /// True if a step that need not wait may continue without returning to the queue. For tasks of
  /// the queue.
  [[nodiscard]] bool may_go_on() noexcept { return budget_ > 0 && --budget_ > 0; }
  [[nodiscard]] bool is_closing() const noexcept;
  /// True if the Runtime has ended: later waits are never woken.
  [[nodiscard]] bool has_ended() const noexcept;

  // Only for tasks of the queue:
  void add(QueueWaiter& waiter) noexcept { waiters_.push_back(waiter); }
  void remove(QueueWaiter& waiter) noexcept { waiters_.erase(waiters_.iterator_to(waiter)); }

  // Only for QueueRegistry:
  /// Called when the Runtime has ended and no other thread runs the queue: discards functions,
  /// stops waiters and runs steps. Returns true if there was anything to do.
  bool run_at_end() noexcept;
  void fire_closed() noexcept;
  boost::intrusive::list_member_hook<> registered;

 private:
  enum class State : std::uint8_t { kOpen, kDraining, kDiscarding, kClosed };
  using Tasks = boost::intrusive::list<QueueTask>;
  class Running;

  void run() noexcept override;
  void run_slice() noexcept;
  /// Returns the next task, or null if there is none or the queue is paused.
  [[nodiscard]] QueueTask* take(std::shared_ptr<void>& keep) noexcept;
  void stop_waiters() noexcept;
  void move_functions_locked(Tasks& to) noexcept;
  static void destroy(Tasks& functions) noexcept;

  // Only used by tasks of the queue:
  boost::intrusive::list<QueueWaiter, boost::intrusive::constant_time_size<false>> waiters_;
  int budget_ = 0;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  Tasks ready_;
  State state_ = State::kOpen;
  bool paused_ = false;
  bool ended_ = false;
  std::optional<DoneSignal> closed_;  // created on demand
};

}  // namespace kube::detail
