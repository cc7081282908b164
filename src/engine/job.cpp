// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <utility>

#include "scheduler.hpp"

#include "base/no_wait.hpp"

namespace kube::detail {

void Job::schedule() noexcept {
  State seen = state_.load(std::memory_order_relaxed);
  for (;;) {
    State next = seen;
    if (seen == State::kIdle) next = State::kQueued;
    if (seen == State::kRunning) next = State::kRunningAgain;
    // Needed even if the state does not change: the next run must see the caller's earlier writes.
    if (state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
      break;
    }
  }
  if (seen == State::kIdle) scheduler_->push(shared_from_this());
}

bool Job::execute() noexcept {
  state_.exchange(State::kRunning, std::memory_order_acq_rel);
  {
    const NoWaitCode scope{placement_ == Placement::kLoop || placement_ == Placement::kLibrary ||
                           scheduler_->is_without_threads()};
    run();
  }
  State expected = State::kRunning;
  if (state_.compare_exchange_strong(expected, State::kIdle, std::memory_order_acq_rel)) {
    return false;
  }
  state_.exchange(State::kQueued, std::memory_order_acq_rel);
  return true;
}

void JobList::push(std::shared_ptr<Job> job) noexcept {
  Job* const added = job.get();
  added->next_ = nullptr;
  added->self_ = std::move(job);
  (last_ == nullptr ? first_ : last_->next_) = added;
  last_ = added;
}

std::shared_ptr<Job> JobList::pop() noexcept {
  if (first_ == nullptr) return nullptr;
  Job* const oldest = first_;
  first_ = oldest->next_;
  if (first_ == nullptr) last_ = nullptr;
  return std::move(oldest->self_);
}

void JobList::append(JobList& other) noexcept {
  if (other.first_ == nullptr) return;
  (last_ == nullptr ? first_ : last_->next_) = other.first_;
  last_ = other.last_;
  other.first_ = other.last_ = nullptr;
}

void JobList::swap(JobList& other) noexcept {
  std::swap(first_, other.first_);
  std::swap(last_, other.last_);
}

void JobList::clear() noexcept {
  while (pop() != nullptr) {  // one by one: a destructor may schedule another job
  }
}

}  // namespace kube::detail
