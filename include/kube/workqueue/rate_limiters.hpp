// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/tokens.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {

/// Decides how long an item that failed has to wait. Thread safety: all methods, from any thread.
template <typename T>
class ItemRateLimiter {
 public:
  virtual ~ItemRateLimiter() = default;

  /// Counts a failure of the item and returns its delay.
  [[nodiscard]] virtual Clock::Duration when(const T& item) = 0;
  /// Resets the failures of the item, because it succeeded or was given up.
  virtual void forget(const T& item) = 0;
  /// Returns how often the item has failed.
  [[nodiscard]] virtual int num_requeues(const T& item) = 0;
};

namespace detail {

/// Returns base * 2^failures, at most `cap`.
[[nodiscard]] Clock::Duration exponential_delay(Clock::Duration base, Clock::Duration cap,
                                                int failures) noexcept;

/// Number of failures per item, until they are forgotten.
template <typename T>
class FailureCounts {
 public:
  /// Increments the count and returns its previous value.
  int count(const T& item) {
    const std::lock_guard guard{mutex_};
    return failures_[item]++;
  }
  void forget(const T& item) {
    const std::lock_guard guard{mutex_};
    failures_.erase(item);
  }
  int of(const T& item) const {
    const std::lock_guard guard{mutex_};
    const auto found = failures_.find(item);
    return found == failures_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<T, int> failures_;  // guarded by mutex_
};

}  // namespace detail

/// Exponential delay: doubles with each failure of the item, up to a cap.
template <typename T>
class ExponentialLimiter final : public ItemRateLimiter<T> {
 public:
  /// `base` is the delay after the first failure.
  explicit ExponentialLimiter(Clock::Duration base = std::chrono::milliseconds{5},
                              Clock::Duration cap = std::chrono::seconds{1000})
      : base_(base), cap_(cap) {}

  Clock::Duration when(const T& item) override {
    return detail::exponential_delay(base_, cap_, failures_.count(item));
  }
  void forget(const T& item) override { failures_.forget(item); }
  int num_requeues(const T& item) override { return failures_.of(item); }

 private:
  const Clock::Duration base_;
  const Clock::Duration cap_;
  detail::FailureCounts<T> failures_;
};

/// Uses the fast delay for the first `max_fast` failures of an item, then the slow one.
template <typename T>
class FastSlowLimiter final : public ItemRateLimiter<T> {
 public:
  /// `fast` and `slow` are delays.
  FastSlowLimiter(Clock::Duration fast, Clock::Duration slow, int max_fast)
      : fast_(fast), slow_(slow), max_fast_(max_fast) {}

  Clock::Duration when(const T& item) override {
    return failures_.count(item) < max_fast_ ? fast_ : slow_;
  }
  void forget(const T& item) override { failures_.forget(item); }
  int num_requeues(const T& item) override { return failures_.of(item); }

 private:
  const Clock::Duration fast_;
  const Clock::Duration slow_;
  const int max_fast_;
  detail::FailureCounts<T> failures_;
};

/// A token bucket shared by all items.
template <typename T>
class BucketLimiter final : public ItemRateLimiter<T> {
 public:
  /// `rate` is in items per second. `clock` must outlive the limiter.
  explicit BucketLimiter(double rate = 10, double burst = 100, Clock& clock = system_clock())
      : clock_(clock), tokens_(rate, burst, clock.now()) {}

  Clock::Duration when(const T& /*item*/) override {
    const std::lock_guard guard{mutex_};
    return tokens_.reserve(clock_.now());
  }
  void forget(const T& /*item*/) override {}
  int num_requeues(const T& /*item*/) override { return 0; }

 private:
  Clock& clock_;
  std::mutex mutex_;
  Tokens tokens_;  // guarded by mutex_
};

/// Combines several limiters: returns their longest delay. Each call is passed to all of them.
template <typename T>
class MaxOfLimiter final : public ItemRateLimiter<T> {
 public:
  explicit MaxOfLimiter(std::vector<std::unique_ptr<ItemRateLimiter<T>>> limiters)
      : limiters_(std::move(limiters)) {}

  Clock::Duration when(const T& item) override {
    Clock::Duration longest{};
    for (const auto& limiter : limiters_) longest = std::max(longest, limiter->when(item));
    return longest;
  }
  void forget(const T& item) override {
    for (const auto& limiter : limiters_) limiter->forget(item);
  }
  int num_requeues(const T& item) override {
    int most = 0;
    for (const auto& limiter : limiters_) most = std::max(most, limiter->num_requeues(item));
    return most;
  }

 private:
  const std::vector<std::unique_ptr<ItemRateLimiter<T>>> limiters_;
};

/// Limits the delay of another limiter.
template <typename T>
class MaxWaitLimiter final : public ItemRateLimiter<T> {
 public:
  /// `longest` caps the delays of `limiter`.
  MaxWaitLimiter(std::unique_ptr<ItemRateLimiter<T>> limiter, Clock::Duration longest)
      : limiter_(std::move(limiter)), longest_(longest) {}

  Clock::Duration when(const T& item) override { return std::min(limiter_->when(item), longest_); }
  void forget(const T& item) override { limiter_->forget(item); }
  int num_requeues(const T& item) override { return limiter_->num_requeues(item); }

 private:
  const std::unique_ptr<ItemRateLimiter<T>> limiter_;
  const Clock::Duration longest_;
};

/// The default limiter of controllers: the longer of an exponential delay per item, 5 ms to 1000 s,
/// and a token bucket for all items, 10 per second with a burst of 100.
template <typename T>
[[nodiscard]] std::unique_ptr<ItemRateLimiter<T>> default_controller_limiter(
    Clock& clock = system_clock()) {
  std::vector<std::unique_ptr<ItemRateLimiter<T>>> limiters;
  limiters.push_back(std::make_unique<ExponentialLimiter<T>>());
  limiters.push_back(std::make_unique<BucketLimiter<T>>(10, 100, clock));
  return std::make_unique<MaxOfLimiter<T>>(std::move(limiters));
}
/// Exponential delay per item, 1 ms to 1000 s.
template <typename T>
[[nodiscard]] std::unique_ptr<ItemRateLimiter<T>> default_item_limiter() {
  return std::make_unique<ExponentialLimiter<T>>(std::chrono::milliseconds{1});
}

}  // namespace kube
