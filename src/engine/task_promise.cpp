// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/task_promise.hpp>

#include <stdexcept>

#include "serial_queue_core.hpp"

namespace kube::detail {

/// Moves a coroutine to another queue for resume_on(), and back when it has ended.
class QueueHop final : public QueueTask, public std::enable_shared_from_this<QueueHop> {
 public:
  explicit QueueHop(TaskPromiseBase& promise) noexcept : promise_(&promise) {}

  void go_to(SerialQueueCore& queue, std::coroutine_handle<> moved) noexcept {
    moved_ = moved;
    queue.enqueue(*this, shared_from_this());
  }
  void forget() noexcept { promise_ = nullptr; }

 private:
  void run() noexcept override {
    if (promise_ == nullptr) return;
    if (moved_) {
      resume_coroutine(std::exchange(moved_, nullptr));
    } else {
      promise_->arrive();
    }
  }

  TaskPromiseBase* promise_;
  std::coroutine_handle<> moved_;  // null if the coroutine has ended
};

/// Intrusive list of the promises whose coroutines are to be resumed by the loop of the calling
/// thread.
struct TaskPromiseBase::Pending {
  TaskPromiseBase* first = nullptr;
  TaskPromiseBase* last = nullptr;
  bool is_running = false;

  [[nodiscard]] static Pending& here() noexcept {
    thread_local Pending pending;
    return pending;
  }
  void push(TaskPromiseBase& promise) noexcept {
    promise.next_ = nullptr;
    (last == nullptr ? first : last->next_) = &promise;
    last = &promise;
  }
  void run() noexcept {
    is_running = true;
    while (first != nullptr) {
      TaskPromiseBase& promise = *first;
      first = promise.next_;
      if (first == nullptr) last = nullptr;
      promise.resumed_.resume();
    }
    is_running = false;
  }
};

void resume_coroutine(std::coroutine_handle<> coroutine) noexcept {
  TaskPromiseBase::Pending& pending = TaskPromiseBase::Pending::here();
  const TaskPromiseBase::Pending outer = std::exchange(pending, {.is_running = true});
  coroutine.resume();
  pending.run();
  pending = outer;
}

TaskPromiseBase::~TaskPromiseBase() {
  if (hop_) hop_->forget();
}

void TaskPromiseBase::resume_soon(std::coroutine_handle<> coroutine) noexcept {
  resumed_ = coroutine;
  Pending& pending = Pending::here();
  pending.push(*this);
  if (!pending.is_running) pending.run();
}

void TaskPromiseBase::start(std::coroutine_handle<> self, std::coroutine_handle<> awaiter,
                            const TaskContext* context) noexcept {
  has_begun_ = true;
  awaiter_ = awaiter;
  if (context != nullptr) {
    context_ = *context;
    home_ = context->queue;
  }
  resume_soon(self);
}

void TaskPromiseBase::start(std::coroutine_handle<> self, TaskCompletion& completion,
                            const TaskContext& context) noexcept {
  has_begun_ = true;
  completion_ = &completion;
  context_ = context;
  home_ = context.queue;
  resume_coroutine(self);
}

bool TaskPromiseBase::move_to(std::coroutine_handle<> self,
                              const std::shared_ptr<SerialQueueCore>& queue) {
  if (queue == context_.queue && SerialQueueCore::current() == queue.get()) return false;
  if (context_.queue && context_.queue->scheduler() != queue->scheduler()) {
    throw std::logic_error("resume_on: the queue belongs to another Runtime than the coroutine");
  }
  if (queue->has_ended()) throw std::logic_error("resume_on: the Runtime of the queue has ended");
  if (!hop_) hop_ = std::make_shared<QueueHop>(*this);
  context_.queue = queue;
  // The coroutine may resume before this returns.
  const std::shared_ptr<SerialQueueCore> target = queue;
  const std::shared_ptr<QueueHop> hop = hop_;
  hop->go_to(*target, self);
  return true;
}

void TaskPromiseBase::end() noexcept {
  if (hop_ && home_ && context_.queue != home_) {
    const std::shared_ptr<SerialQueueCore> home = home_;
    const std::shared_ptr<QueueHop> hop = hop_;
    hop->go_to(*home, nullptr);
  } else {
    arrive();
  }
}

void TaskPromiseBase::arrive() noexcept {
  if (completion_ != nullptr) return completion_->completed();
  if (awaiter_) resume_soon(awaiter_);
}

}  // namespace kube::detail
