// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/detail/waiters.hpp>

#include "base/no_wait.hpp"
#include "base/waker.hpp"

#include <utility>

namespace kube::detail {

void Waiters::wait(std::unique_lock<std::mutex>& lock, Clock::TimePoint next,
                   std::stop_token stop) {
  require_may_wait("get() of a work queue", "take items in a thread of your own");
  const bool is_timed = next < timed_until_;
  if (is_timed) timed_until_ = next;
  ++waiting_;
  // A destructor, since the clock may throw std::bad_alloc: timed_until_ must be reset then, too.
  struct Leave {
    Waiters& waiters;
    Clock::TimePoint next;
    bool is_timed;
    ~Leave() {
      --waiters.waiting_;
      // Another waiter may have replaced timed_until_ with an earlier time.
      if (is_timed && waiters.timed_until_ == next) waiters.timed_until_ = Clock::TimePoint::max();
    }
  } const leave{*this, next, is_timed};
  clock_.wait_until(lock, condition_, is_timed ? next : Clock::TimePoint::max(), std::move(stop),
                    [this, seen = wakes_] { return wakes_ != seen; });
}

void Waiters::wake_coroutine() noexcept {
  CoroutineWaiter* const first = coroutines_.front();
  if (first == nullptr) return;
  remove(*first);
  if (const std::shared_ptr<Waker> waker = first->waker.lock()) waker->wake();
}

}  // namespace kube::detail
