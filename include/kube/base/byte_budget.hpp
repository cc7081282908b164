// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/error.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube {

namespace detail {
class Admission;
class Waker;
}  // namespace detail

/// A stream needs more memory than the budget of its client has.
class BudgetError : public Error {
 public:
  using Error::Error;
};

/// How many bytes the streams of a client may hold together: received and not yet read, read and not yet decoded, and
/// decoded but not yet handed out. It is a limit for back-pressure, not an allocator: add() always succeeds, and who
/// adds asks is_exhausted() before it reads on.
///
/// Thread safety: all methods may be called from any thread.
class ByteBudget {
 public:
  /// 0 is no limit.
  explicit ByteBudget(std::size_t limit) noexcept : limit_(limit) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_exhausted() const noexcept { return limit_ != 0 && used() > limit_; }
  /// What each stream may hold if all hold the same, but at least 64 KiB.
  [[nodiscard]] std::size_t share() const noexcept;
  /// How often somebody held back, waited or failed because of it.
  [[nodiscard]] std::uint64_t refusals() const noexcept {
    return refusals_.load(std::memory_order_relaxed);
  }

  void add(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::size_t bytes) noexcept;
  void count_refusal() noexcept { refusals_.fetch_add(1, std::memory_order_relaxed); }
  /// Waits until it is not exhausted. False if it still is at the deadline or after a stop.
  [[nodiscard]] bool wait(Clock& clock, Clock::TimePoint deadline, std::stop_token stop);

 private:
  friend class ByteAccount;
  friend class detail::Admission;
  /// One who waits without a thread.
  struct Waiter {
    const detail::Admission* who = nullptr;
    std::weak_ptr<detail::Waker> waker;
  };

  /// Has the waker woken, once, when the budget is no longer exhausted. False if it is not exhausted now.
  [[nodiscard]] bool add_waiter(const Waiter& waiter);
  void forget(const detail::Admission& who) noexcept;

  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
  std::atomic<std::size_t> streams_ = 0;
  std::atomic<std::uint64_t> refusals_ = 0;
  std::atomic<std::size_t> waiting_ = 0;  // threads and waiters
  std::mutex mutex_;                      // of those who wait
  Condition relieved_;
  std::vector<Waiter> waiters_;  // guarded by mutex_
};

/// What one stream holds of a budget; given back by the destructor. Without a budget it counts nothing.
///
/// Thread safety: one thread at a time.
class ByteAccount {
 public:
  /// `name` is what the stream reads, for messages. `clock` must outlive it.
  ByteAccount(std::shared_ptr<ByteBudget> budget, Clock& clock, std::string name);
  ByteAccount(const ByteAccount&) = delete;
  ByteAccount& operator=(const ByteAccount&) = delete;
  ~ByteAccount();

  /// The stream holds so many bytes now.
  void hold(std::size_t bytes) noexcept;
  /// Whether the stream should keep as little as possible.
  [[nodiscard]] bool is_crowded() const noexcept { return budget_ && budget_->is_exhausted(); }
  /// To be called before a stream is read that has `incomplete` bytes of an item. A stream that has none, or no more than its
  /// share, goes on at once, so that no stream waits for itself. Any other waits, up to five seconds, while the
  /// budget is exhausted. Throws BudgetError if it still is, or if the item is larger than the whole budget.
  void admit(std::size_t incomplete, std::stop_token stop);

 private:
  friend class detail::Admission;
  /// How long admit() waits.
  static constexpr std::chrono::seconds kPatience{5};

  /// Whether admit() cannot go on at once. Throws BudgetError if waiting is of no use.
  [[nodiscard]] bool has_to_wait(std::size_t incomplete) const;
  [[noreturn]] void refuse(std::size_t incomplete) const;

  const std::shared_ptr<ByteBudget> budget_;
  Clock& clock_;
  const std::string name_;
  std::size_t held_ = 0;
};

}  // namespace kube
