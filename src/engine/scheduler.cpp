// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <utility>

namespace kube::detail {

Scheduler::Scheduler(WorkerPoolOptions workers, const Logger& log)
    : log_(log), loop_(log), workers_(std::make_shared<WorkerPool>(workers, log)) {}

Scheduler::~Scheduler() = default;

void Scheduler::close() noexcept {
  workers_->close(WorkerPool::Close::kAndWait);
  loop_.close();
}

void Scheduler::push(std::shared_ptr<Job> job) noexcept {
  if (job->placement() == Placement::kLibrary && !job->leaves_loop() && is_on_busy_loop()) {
    loop_.push_inline(std::move(job));
  } else {
    push_again(std::move(job));
  }
}

void Scheduler::push_again(std::shared_ptr<Job> job) noexcept {
  if (job->placement() == Placement::kLoop || is_without_threads()) {
    loop_.push(std::move(job));
  } else {
    workers_->push(std::move(job));
  }
}

void Scheduler::execute(std::shared_ptr<Job> job) noexcept {
  if (!run(*job)) return;
  const std::shared_ptr<Scheduler> scheduler = job->scheduler();
  scheduler->push_again(std::move(job));
}

}  // namespace kube::detail
