// SPDX-License-Identifier: Apache-2.0
#include <kube/base/byte_budget.hpp>

#include "base/waker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace kube {

namespace {

/// Larger than most objects: however many streams there are, ordinary objects do not exceed the
/// share.
constexpr std::size_t kLeastShare = std::size_t{64} << 10;

}  // namespace

std::size_t ByteBudget::share() const noexcept {
  const std::size_t streams = std::max<std::size_t>(1, streams_.load(std::memory_order_relaxed));
  return std::max(limit_ / streams, std::min(limit_, kLeastShare));
}

void ByteBudget::remove(std::size_t bytes) noexcept {
  used_.fetch_sub(bytes);
  // Sequentially consistent with wait() and add_waiter(): either they see the new number, or this
  // load sees them waiting.
  if (waiting_.load() == 0 || is_exhausted()) return;
  std::vector<Waiter> relieved;
  {
    const std::lock_guard guard{mutex_};
    relieved.swap(waiters_);
    waiting_ -= relieved.size();
    relieved_.notify_all();
  }
  for (const Waiter& waiter : relieved) {
    if (const auto waker = waiter.waker.lock()) waker->wake();
  }
}

bool ByteBudget::add_waiter(const Waiter& waiter) {
  const std::lock_guard guard{mutex_};
  const auto same = std::find_if(waiters_.begin(), waiters_.end(),
                                 [&](const Waiter& each) { return each.who == waiter.who; });
  if (same == waiters_.end()) {
    waiters_.push_back(waiter);
    ++waiting_;
  }
  return used_.load() > limit_;
}

void ByteBudget::forget(const detail::Admission& who) noexcept {
  const std::lock_guard guard{mutex_};
  waiting_ -= std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.who == &who; });
}

bool ByteBudget::wait(Clock& clock, Clock::TimePoint deadline, std::stop_token stop) {
  std::unique_lock lock{mutex_};
  ++waiting_;
  const bool relieved = clock.wait_until(lock, relieved_, deadline, std::move(stop),
                                         [this] { return limit_ == 0 || used_.load() <= limit_; });
  --waiting_;
  return relieved;
}

ByteAccount::ByteAccount(std::shared_ptr<ByteBudget> budget, Clock& clock, std::string name)
    : budget_(std::move(budget)), clock_(clock), name_(std::move(name)) {
  if (budget_) ++budget_->streams_;
}

ByteAccount::~ByteAccount() {
  hold(0);
  if (budget_) --budget_->streams_;
}

void ByteAccount::hold(std::size_t bytes) noexcept {
  if (!budget_ || bytes == held_) return;
  if (bytes > held_) {
    budget_->add(bytes - held_);
  } else {
    budget_->remove(held_ - bytes);
  }
  held_ = bytes;
}

void ByteAccount::admit(std::size_t incomplete, std::stop_token stop) {
  if (!has_to_wait(incomplete)) return;
  budget_->count_refusal();
  if (budget_->wait(clock_, clock_.now() + kPatience, stop) || stop.stop_requested()) return;
  refuse(incomplete);
}

bool ByteAccount::has_to_wait(std::size_t incomplete) const {
  if (!budget_ || budget_->limit() == 0) return false;
  if (incomplete > budget_->limit()) {
    budget_->count_refusal();
    refuse(incomplete);
  }
  return budget_->is_exhausted() && incomplete > budget_->share();
}

void ByteAccount::refuse(std::size_t incomplete) const {
  throw BudgetError(fmt::format(
      "{}: {} bytes of an incomplete item do not fit into the client's budget of {} bytes, of "
      "which "
      "{} are in use; raise ClientOptions::max_buffered_bytes, or run fewer watches and lists at "
      "once",
      name_, incomplete, budget_->limit(), budget_->used()));
}

}  // namespace kube
