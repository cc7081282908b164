// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/engine/spawn.hpp>

#include <exception>
#include <stdexcept>
#include <utility>

#include "queue_registry.hpp"
#include "scheduler.hpp"
#include "serial_queue_core.hpp"

namespace kube {

namespace detail {

namespace {

void report(const Logger& log, const std::exception_ptr& error, bool was_stopped) noexcept {
  const char* what = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    what = known.what();  // stays valid: `error` holds the exception
  } catch (...) {         // NOLINT(bugprone-empty-catch): reported below
  }
  if (was_stopped) {
    log.debug("a spawned task ended after a stop: {}", what);
  } else {
    log.error("a spawned task failed: {}", what);
  }
}

/// A Task that is not awaited. Owns itself until the Task or the Runtime has ended.
class SpawnedTask final : public SpawnedBase, public QueueTask, public TaskCompletion {
 public:
  SpawnedTask(Task<void> task, TaskContext context)
      : task_(std::move(task)), context_(std::move(context)) {}

  [[nodiscard]] DoneSignal start() {
    DoneSignal done = done_;
    const std::shared_ptr<SerialQueueCore> queue = context_.queue;
    if (queue->scheduler()->queues().add(*this)) {
      queue->enqueue(*this);
    } else {
      destroy();
    }
    return done;
  }

  void destroy() noexcept override {
    const DoneSignal done = done_;
    const std::shared_ptr<SerialQueueCore> queue = context_.queue;
    queue->withdraw(*this);
    delete this;
    done.fire();
  }

 private:
  /// Starts the Task; after its end, destroys this object.
  void run() noexcept override {
    Scheduler& scheduler = *context_.queue->scheduler();
    if (!TaskAccess::promise(task_).has_begun() && !context_.queue->has_ended()) {
      return TaskAccess::start(task_, *this, context_);
    }
    if (const std::exception_ptr& error = TaskAccess::promise(task_).error()) {
      report(scheduler.log(), error, context_.stop.stop_requested() || context_.queue->has_ended());
    }
    if (scheduler.queues().remove(*this)) destroy();
  }
  void completed() noexcept override {
    // Not destroyed here: the coroutine has yet to return to the thread that runs it.
    context_.queue->enqueue(*this);
  }

  Task<void> task_;
  const TaskContext context_;
  const DoneSignal done_;
};

DoneSignal spawn_on(std::shared_ptr<SerialQueueCore> queue, Task<void> task, std::stop_token stop) {
  if (!TaskAccess::is_startable(task)) {
    throw std::invalid_argument("spawn: the Task is empty, or was awaited before");
  }
  auto spawned = std::make_unique<SpawnedTask>(
      std::move(task),
      TaskContext{.queue = std::move(queue), .stop = std::move(stop), .is_spawned = true});
  return spawned.release()->start();  // owns itself from here on
}

}  // namespace

}  // namespace detail

DoneSignal spawn(Runtime& runtime, Task<void> task, Delivery delivery, std::stop_token stop) {
  return detail::spawn_on(detail::SerialQueueCore::make(detail::Inside::core(runtime), delivery),
                          std::move(task), std::move(stop));
}

DoneSignal spawn(SerialQueue& queue, Task<void> task, std::stop_token stop) {
  return detail::spawn_on(detail::Inside::core(queue), std::move(task), std::move(stop));
}

}  // namespace kube
