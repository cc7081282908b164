// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/engine/serial_queue.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "queue_registry.hpp"
#include "scheduler.hpp"
#include "serial_queue_core.hpp"

namespace kube {

namespace detail {

namespace {

// A queue yields its thread when it reaches the first of these limits.
constexpr int kTasksAtOnce = 64;
constexpr std::chrono::milliseconds kSlice{1};

SerialQueueCore*& current_queue() noexcept {
  thread_local SerialQueueCore* queue = nullptr;
  return queue;
}

class FunctionTask final : public QueueTask {
 public:
  FunctionTask(std::function<void()> function, const SerialQueueCore& queue)
      : function_(std::move(function)), queue_(queue) {}

  [[nodiscard]] bool is_function() const noexcept override { return true; }
  void run() noexcept override {
    try {
      function_();
    } catch (const std::exception& error) {
      queue_.scheduler()->log().error("a task of a serial queue failed: {}", error.what());
    } catch (...) {
      queue_.scheduler()->log().error("a task of a serial queue failed");
    }
    function_ = nullptr;
  }

 private:
  std::function<void()> function_;
  const SerialQueueCore& queue_;
};

}  // namespace

/// Marks the calling thread as the one that runs the queue.
class SerialQueueCore::Running {
 public:
  explicit Running(SerialQueueCore& queue) noexcept
      : outer_(std::exchange(current_queue(), &queue)) {}
  ~Running() { current_queue() = outer_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  SerialQueueCore* const outer_;
};

SerialQueueCore* SerialQueueCore::current() noexcept { return current_queue(); }

std::shared_ptr<SerialQueueCore> SerialQueueCore::make(std::shared_ptr<Scheduler> scheduler,
                                                       Delivery delivery) {
  return std::make_shared<SerialQueueCore>(std::move(scheduler), delivery);
}

SerialQueueCore::SerialQueueCore(std::shared_ptr<Scheduler> scheduler, Delivery delivery) noexcept
    : Job(delivery == Delivery::kInline ? Placement::kLoop : Placement::kBlocking) {
  bind(std::move(scheduler));
  ended_ = !this->scheduler()->queues().add(*this);
  if (ended_) state_ = State::kClosed;
}

SerialQueueCore::~SerialQueueCore() {
  scheduler()->queues().remove(*this);
  Tasks functions;
  {
    const std::lock_guard guard{mutex_};
    move_functions_locked(functions);
    ready_.clear();  // the steps that are left belong to destroyed coroutines
  }
  destroy(functions);
}

bool SerialQueueCore::post(std::function<void()> task) {
  if (task == nullptr) {
    throw std::invalid_argument("a task posted to a serial queue is an empty function");
  }
  const auto added = std::make_shared<FunctionTask>(std::move(task), *this);
  {
    const std::lock_guard guard{mutex_};
    if (state_ != State::kOpen) return false;
    added->keep_ = added;
    ready_.push_back(*added);
    if (paused_) return true;
  }
  schedule();
  return true;
}

void SerialQueueCore::enqueue(QueueTask& task, std::shared_ptr<void> keep) noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (task.is_linked()) return;
    task.keep_ = std::move(keep);
    ready_.push_back(task);
  }
  schedule();
}

void SerialQueueCore::withdraw(QueueTask& task) noexcept {
  std::shared_ptr<void> keep;
  const std::lock_guard guard{mutex_};
  if (!task.is_linked()) return;
  keep.swap(task.keep_);
  ready_.erase(ready_.iterator_to(task));
}

void SerialQueueCore::pause() noexcept {
  const std::lock_guard guard{mutex_};
  paused_ = state_ == State::kOpen;
}

void SerialQueueCore::resume() noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (!std::exchange(paused_, false)) return;
  }
  schedule();
}

void SerialQueueCore::close(SerialQueue::Close how) noexcept {
  Tasks functions;
  {
    const std::lock_guard guard{mutex_};
    if (state_ == State::kClosed) return;
    if (how == SerialQueue::Close::kDiscard) {
      state_ = State::kDiscarding;
      move_functions_locked(functions);
    } else if (state_ == State::kOpen) {
      state_ = State::kDraining;
    }
    paused_ = false;
  }
  schedule();
  destroy(functions);
}

DoneSignal SerialQueueCore::closed() {
  const std::lock_guard guard{mutex_};
  if (!closed_) {
    closed_.emplace("serial queue closed");
    if (state_ == State::kClosed) closed_->fire();
  }
  return *closed_;
}

bool SerialQueueCore::is_closing() const noexcept {
  const std::lock_guard guard{mutex_};
  return state_ != State::kOpen;
}

bool SerialQueueCore::has_ended() const noexcept {
  const std::lock_guard guard{mutex_};
  return ended_;
}

void SerialQueueCore::move_functions_locked(Tasks& to) noexcept {
  for (auto task = ready_.begin(); task != ready_.end();) {
    QueueTask& each = *task++;
    if (!each.is_function()) continue;
    ready_.erase(ready_.iterator_to(each));
    to.push_back(each);
  }
}

void SerialQueueCore::destroy(Tasks& functions) noexcept {
  while (!functions.empty()) {
    QueueTask& task = functions.front();
    functions.pop_front();
    const std::shared_ptr<void> keep = std::move(task.keep_);
  }
}

QueueTask* SerialQueueCore::take(std::shared_ptr<void>& keep) noexcept {
  const std::lock_guard guard{mutex_};
  if (ready_.empty() || paused_) return nullptr;
  QueueTask& task = ready_.front();
  ready_.pop_front();
  keep = std::move(task.keep_);
  return &task;
}

void SerialQueueCore::run() noexcept {
  QueueRegistry& registry = scheduler()->queues();
  if (!registry.enter()) return;  // the thread that ends the Runtime does the rest
  {
    const Running here{*this};
    run_slice();
  }
  registry.leave();
}

void SerialQueueCore::run_slice() noexcept {
  if (is_closing()) stop_waiters();
  const auto end = std::chrono::steady_clock::now() + kSlice;
  budget_ = kTasksAtOnce;
  while (budget_ > 0) {
    --budget_;
    std::shared_ptr<void> keep;
    QueueTask* const task = take(keep);
    if (task == nullptr) break;
    WorkerPool::note_progress();
    task->run();
    keep.reset();
    if (std::chrono::steady_clock::now() >= end) break;
  }
  {
    const std::lock_guard guard{mutex_};
    if (ready_.empty() ? state_ == State::kOpen || state_ == State::kClosed : paused_) return;
  }
  if (is_closing()) stop_waiters();
  const bool is_empty = [&] {
    const std::lock_guard guard{mutex_};
    return ready_.empty();
  }();
  if (is_empty) {
    fire_closed();
  } else {
    schedule();
  }
}

void SerialQueueCore::stop_waiters() noexcept {
  while (!waiters_.empty()) waiters_.front().stop();
}

void SerialQueueCore::fire_closed() noexcept {
  std::optional<DoneSignal> closed;
  {
    const std::lock_guard guard{mutex_};
    state_ = State::kClosed;
    closed = closed_;
  }
  if (closed) closed->fire();
}

bool SerialQueueCore::run_at_end() noexcept {
  const Running here{*this};
  Tasks functions;
  {
    const std::lock_guard guard{mutex_};
    ended_ = true;
    state_ = State::kDiscarding;
    paused_ = false;
    move_functions_locked(functions);
  }
  destroy(functions);
  stop_waiters();
  bool any = false;
  std::shared_ptr<void> keep;
  while (QueueTask* const task = take(keep)) {
    any = true;
    budget_ = kTasksAtOnce;
    task->run();
    keep.reset();
  }
  return any;
}

}  // namespace detail

SerialQueue::SerialQueue(Runtime& runtime, Delivery delivery)
    : core_(detail::SerialQueueCore::make(detail::Inside::core(runtime), delivery)) {}
SerialQueue::~SerialQueue() { core_->close(Close::kDiscard); }

bool SerialQueue::post(std::function<void()> task) { return core_->post(std::move(task)); }
void SerialQueue::pause() noexcept { core_->pause(); }
void SerialQueue::resume() noexcept { core_->resume(); }
void SerialQueue::close(Close how) noexcept {
  const auto core = core_;  // a destroyed task may own this object
  core->close(how);
}
DoneSignal SerialQueue::closed() const { return core_->closed(); }

}  // namespace kube
