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

/// Thrown when a stream needs more memory than the byte budget of its client allows.
class BudgetError : public Error {
 public:
  using Error::Error;
};

/// Limits the bytes that the streams of a client buffer in total: received but not read, read but
/// not decoded, and decoded but not handed out. It is a limit for back-pressure, not an allocator:
/// add() always succeeds, and a stream checks is_exhausted() before it reads on.
///
/// Thread safety: all methods may be called from any thread.
class ByteBudget {
 public:
  /// A limit of 0 means no limit.
  explicit ByteBudget(std::size_t limit) noexcept : limit_(limit) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_exhausted() const noexcept { return limit_ != 0 && used() > limit_; }
  /// The fair share of one stream: the limit divided by the number of streams, at least 64 KiB.
  [[nodiscard]] std::size_t share() const noexcept;
  /// How often a stream was throttled, had to wait or failed because the budget was exhausted.
  [[nodiscard]] std::uint64_t refusals() const noexcept {
    return refusals_.load(std::memory_order_relaxed);
  }

  /// Counts bytes that a stream has buffered. May exceed the limit.
  void add(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Returns bytes to the budget, and wakes the streams that wait for it.
  void remove(std::size_t bytes) noexcept;
  /// Increments refusals().
  void count_refusal() noexcept { refusals_.fetch_add(1, std::memory_order_relaxed); }
  /// Waits until the budget is not exhausted. Returns false if it still is at the deadline or after
  /// a stop.
  [[nodiscard]] bool wait(Clock& clock, Clock::TimePoint deadline, std::stop_token stop);

 private:
  friend class ByteAccount;
  friend class detail::Admission;
  /// A waiter that does not block a thread.
  struct Waiter {
    const detail::Admission* who = nullptr;
    std::weak_ptr<detail::Waker> waker;
  };

  /// Registers a waiter, which is woken once when the budget is no longer exhausted. Returns false
  /// if the budget is not exhausted now.
  [[nodiscard]] bool add_waiter(const Waiter& waiter);
  void forget(const detail::Admission& who) noexcept;

  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
  std::atomic<std::size_t> streams_ = 0;
  std::atomic<std::uint64_t> refusals_ = 0;
  std::atomic<std::size_t> waiting_ = 0;  // threads and waiters
  std::mutex mutex_;                      // guards waiters_ and the sleep of blocked threads
  Condition relieved_;
  std::vector<Waiter> waiters_;  // guarded by mutex_
};

/// The bytes that one stream holds of a budget. The destructor returns them. Without a budget, it
/// counts nothing.
///
/// Thread safety: one thread at a time.
class ByteAccount {
 public:
  /// `name` identifies the stream in messages. `clock` must outlive the account.
  ByteAccount(std::shared_ptr<ByteBudget> budget, Clock& clock, std::string name);
  ByteAccount(const ByteAccount&) = delete;
  ByteAccount& operator=(const ByteAccount&) = delete;
  ~ByteAccount();

  /// Sets the number of bytes that the stream holds now.
  void hold(std::size_t bytes) noexcept;
  /// True if the budget is exhausted, so that the stream should buffer as little as possible.
  [[nodiscard]] bool is_crowded() const noexcept { return budget_ && budget_->is_exhausted(); }
  /// Call before reading from a stream that has buffered `incomplete` bytes of an item. Returns at
  /// once if the stream holds no incomplete item, or no more than its share: no stream waits for
  /// itself. Otherwise waits up to five seconds while the budget is exhausted. Throws BudgetError
  /// if it still is, or if the item is larger than the whole budget.
  void admit(std::size_t incomplete, std::stop_token stop);

 private:
  friend class detail::Admission;
  /// The longest wait of admit().
  static constexpr std::chrono::seconds kPatience{5};

  /// True if admit() cannot return at once. Throws BudgetError if waiting cannot help.
  [[nodiscard]] bool has_to_wait(std::size_t incomplete) const;
  [[noreturn]] void refuse(std::size_t incomplete) const;

  const std::shared_ptr<ByteBudget> budget_;
  Clock& clock_;
  const std::string name_;
  std::size_t held_ = 0;
};

}  // namespace kube
