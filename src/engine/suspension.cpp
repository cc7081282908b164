// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/engine/suspension.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "queue_registry.hpp"
#include "runtime_access.hpp"
#include "scheduler.hpp"
#include "serial_queue_core.hpp"
#include "timer.hpp"

namespace kube::detail {

/// The part that other threads refer to. It outlives the operation while a wake-up is in progress.
class Suspension::Shell final : public Waker,
                                public QueueTask,
                                public QueueWaiter,
                                public std::enable_shared_from_this<Shell> {
 public:
  explicit Shell(Suspension& owner) noexcept : owner_(&owner) {}

  void wake() noexcept override {
    const std::lock_guard guard{mutex_};  // after disarm(), nothing is enqueued any more
    if (queue_) queue_->enqueue(*this, shared_from_this());
  }
  void stop() noexcept override {
    stop_waiting();
    if (!owner_->ends_on_stop()) return;
    is_stopped_ = true;
    wake();
  }

  [[nodiscard]] bool begin(std::coroutine_handle<> coroutine, TaskContext& context,
                           std::stop_token stop);
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  /// Called when the owner is destroyed.
  void abandon() noexcept;
  void poll_again() noexcept { again_ = true; }
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept {
    return queue_->scheduler();
  }

  /// The context of a coroutine without one, and the Runtime of its queue.
  TaskContext own_context;
  std::shared_ptr<Runtime> own_runtime;

 private:
  struct RequestStop {
    Shell* shell;
    void operator()() const noexcept {
      shell->is_stopped_ = true;
      shell->wake();
    }
  };

  void run() noexcept override;
  /// Returns true if the operation is over.
  [[nodiscard]] bool poll_once() noexcept;
  void wait() noexcept;
  void stop_waiting() noexcept;
  /// Stops all sources of wake-ups.
  void disarm() noexcept;

  // Only used by the thread of the queue:
  Suspension* owner_;
  std::coroutine_handle<> coroutine_;
  std::exception_ptr error_;
  std::optional<Timer> timer_;
  bool is_over_ = false;
  bool again_ = false;

  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::shared_ptr<SerialQueueCore> queue_;  // set while a coroutine waits; written with mutex_
  // Last members, because they call the shell:
  std::optional<std::stop_callback<RequestStop>> on_stop_;
  std::optional<std::stop_callback<RequestStop>> on_context_stop_;
};

bool Suspension::Shell::begin(std::coroutine_handle<> coroutine, TaskContext& context,
                              std::stop_token stop) {
  const std::shared_ptr<SerialQueueCore> queue = context.queue;
  const bool is_here = SerialQueueCore::current() == queue.get();
  if (coroutine_)
    throw std::logic_error("two coroutines await the same operation; only one at a time may");
  coroutine_ = coroutine;
  error_ = nullptr;
  is_over_ = false;
  const bool ends_on_stop = owner_->ends_on_stop();
  is_stopped_ = ends_on_stop &&
                (stop.stop_requested() || context.stop.stop_requested() || queue->is_closing());
  {
    const std::lock_guard guard{mutex_};
    queue_ = queue;
  }
  if (queue->has_ended()) {
    // A spawned coroutine waits until it is destroyed. Others continue, because they have no other
    // owner.
    if (context.is_spawned) return true;
    is_over_ = poll_once();
    disarm();
    return false;
  }
  if (ends_on_stop && stop.stop_possible()) on_stop_.emplace(std::move(stop), RequestStop{this});
  if (ends_on_stop && context.stop.stop_possible()) {
    on_context_stop_.emplace(context.stop, RequestStop{this});
  }
  if (!is_here) {
    queue->enqueue(*this, shared_from_this());  // the coroutine may resume before this returns
    return true;
  }
  is_over_ = poll_once();
  if (!is_over_) {
    wait();
  } else if (queue->may_go_on()) {
    disarm();
    return false;
  } else {
    wake();
  }
  return true;
}

bool Suspension::Shell::poll_once() noexcept {
  again_ = false;
  try {
    if (is_stopped_) {
      owner_->stopped();
      return true;
    }
    if (owner_->poll()) return true;
    const Clock::TimePoint when = owner_->wake_at();
    if (when != Clock::TimePoint::max()) {
      if (!timer_) timer_.emplace(queue_->scheduler(), owner_->clock());
      timer_->set(when, std::weak_ptr<Waker>{weak_from_this()});
    } else if (timer_) {
      timer_->cancel();
    }
  } catch (...) {
    error_ = std::current_exception();
    return true;
  }
  return false;
}

void Suspension::Shell::wait() noexcept {
  if (!QueueWaiter::is_linked()) queue_->add(*this);
  if (again_ || is_stopped_) wake();
}

void Suspension::Shell::stop_waiting() noexcept {
  if (QueueWaiter::is_linked()) queue_->remove(*this);
}

void Suspension::Shell::run() noexcept {
  if (owner_ == nullptr || !coroutine_) return;
  if (!is_over_ && !poll_once()) return wait();
  const std::coroutine_handle<> coroutine = std::exchange(coroutine_, nullptr);
  disarm();
  resume_coroutine(coroutine);
}

void Suspension::Shell::disarm() noexcept {
  on_stop_.reset();
  on_context_stop_.reset();
  timer_.reset();
  stop_waiting();
  coroutine_ = nullptr;
  const std::shared_ptr<SerialQueueCore> queue = [&] {
    const std::lock_guard guard{mutex_};
    return std::exchange(queue_, nullptr);
  }();
  if (queue) queue->withdraw(*this);
}

void Suspension::Shell::abandon() noexcept {
  if (coroutine_ && SerialQueueCore::current() != queue_.get() &&
      !QueueRegistry::is_ending_here()) {
    const Logger& log = queue_->scheduler()->log();
    (log.enabled(LogLevel::kError) ? log : stderr_logger())
        .error(
            "a Task that waits was destroyed on another thread than that of its queue, which may "
            "resume it at "
            "any moment; request a stop instead, and let it end");
    std::terminate();
  }
  disarm();
  owner_ = nullptr;
}

Suspension::Suspension() : shell_(std::make_shared<Shell>(*this)) {}
Suspension::~Suspension() { shell_->abandon(); }

bool Suspension::begin(std::coroutine_handle<> coroutine, TaskContext* context,
                       std::stop_token stop) {
  if (context == nullptr) context = &shell_->own_context;
  if (!context->queue) {
    std::shared_ptr<Runtime> runtime = this->runtime();
    context->queue = SerialQueueCore::make(Inside::core(*runtime), Delivery::kQueued);
    shell_->own_runtime = std::move(runtime);
  }
  begun(*context);
  return shell_->begin(coroutine, *context, std::move(stop));
}

void Suspension::rethrow() { shell_->rethrow(); }
std::weak_ptr<Waker> Suspension::waker() const noexcept { return shell_; }
const std::shared_ptr<Scheduler>& Suspension::scheduler() const noexcept {
  return shell_->scheduler();
}
void Suspension::poll_again() noexcept { shell_->poll_again(); }
std::shared_ptr<Runtime> Suspension::runtime() const { return shared_runtime(); }

}  // namespace kube::detail
