// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>

#include "blocked_gauges.hpp"
#include "runtime_access.hpp"
#include "scheduler.hpp"
#include "thread.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace kube {

namespace {

constexpr unsigned kMostByDefault = 4;

unsigned thread_count(const RuntimeOptions& options) {
  return options.threads.value_or(
      std::clamp(std::thread::hardware_concurrency(), 1U, kMostByDefault));
}

/// Throws std::logic_error if the Runtime runs the loop in a thread of its own.
void check_is_free(detail::Scheduler& core) {
  core.loop().check_process();
  if (core.workers().is_without_threads()) return;
  throw std::logic_error(
      "the Runtime runs its loop in a thread of its own; set "
      "RuntimeOptions::threads = 0 to run it yourself");
}

}  // namespace

int Loop::descriptor() {
  check_is_free(*core_);
  return core_->loop().descriptor();
}
bool Loop::run_ready(Duration budget) {
  const auto core = core_;  // a task may destroy the Runtime, and this object with it
  check_is_free(*core);
  return core->loop().run_ready(budget);
}
void Loop::run(std::stop_token stop) {
  const auto core = core_;
  check_is_free(*core);
  core->loop().run(stop);
}
void Loop::post(std::function<void()> task) {
  core_->loop().check_process();
  core_->loop().post(std::move(task));
}

struct Runtime::Threads {
  const detail::LiveRuntime alive{};
  const detail::ProcessMark process{};
  std::stop_source stop;
  std::thread io;
  std::optional<detail::BlockedGauges> blocked;
};

/// The number and names of a Runtime's threads.
struct detail::ThreadPlan {
  const char* loop_name = "kube-io";
  WorkerPoolOptions workers = {};
  Logger log = {};
  std::shared_ptr<Metrics> metrics = nullptr;
};

Runtime::Runtime(RuntimeOptions options)
    : Runtime(detail::ThreadPlan{
          .workers = {.threads = thread_count(options), .max_threads = options.max_threads},
          .log = options.log,
          .metrics = options.metrics}) {}

Runtime::Runtime(const detail::ThreadPlan& plan)
    : core_(std::make_shared<detail::Scheduler>(plan.workers, plan.log.named("runtime"))),
      loop_(core_),
      threads_(std::make_unique<Threads>()) {
  if (core_->workers().is_without_threads()) return;
  core_->workers().start(core_);
  try {
    if (plan.metrics) threads_->blocked.emplace(plan.metrics, core_);
    threads_->io = detail::make_thread(
        plan.loop_name,
        [core = core_, stop = threads_->stop.get_token()] { core->loop().run(stop); });
  } catch (const std::system_error& error) {
    core_->close();
    throw std::system_error(error.code(), "the thread of the event loop could not be created");
  } catch (...) {
    core_->close();
    throw;
  }
}

Runtime::~Runtime() {
  if (threads_->process.is_of_parent()) {
    (void)threads_.release();  // the thread does not exist in a child, so it cannot be joined
    detail::keep_for_ever(core_);
    return;
  }
  // A thread cannot join itself, and the loop cannot wait for workers that may wait for the loop.
  const bool is_own = core_->workers().is_here() || core_->loop().is_here();
  core_->workers().close(is_own ? detail::WorkerPool::Close::kAtOnce
                                : detail::WorkerPool::Close::kAndWait);
  threads_->stop.request_stop();
  if (threads_->io.joinable()) {
    if (is_own) {
      threads_->io.detach();
    } else {
      threads_->io.join();
    }
  }
  core_->loop().close();
  core_->queues().end();
}

std::size_t Runtime::threads() const {
  threads_->process.check("the Runtime");
  return core_->workers().size() + (core_->workers().is_without_threads() ? 0 : 1);
}

std::shared_ptr<Runtime> detail::shared_runtime() {
  static std::mutex mutex;
  static std::weak_ptr<Runtime> shared;  // guarded by mutex
  const std::lock_guard guard{mutex};
  auto runtime = shared.lock();
  if (runtime == nullptr) shared = runtime = std::make_shared<Runtime>();
  return runtime;
}

std::shared_ptr<Runtime> detail::lease_runtime() {
  static std::mutex mutex;
  static std::weak_ptr<Runtime> shared;  // guarded by mutex
  const std::lock_guard guard{mutex};
  auto runtime = shared.lock();
  if (runtime == nullptr) {
    // No limit of workers: blocking user code of one lease must not delay other leases.
    const ThreadPlan plan{
        .loop_name = "kube-lease",
        .workers = {.threads = 1, .max_threads = 0, .kept = 0, .name = "kube-lease"},
        .log = stderr_logger()};
    runtime.reset(new Runtime(plan));
    shared = runtime;
  }
  return runtime;
}

}  // namespace kube
