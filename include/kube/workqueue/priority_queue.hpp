// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/metrics.hpp>
#include <kube/engine/task.hpp>
#include <kube/workqueue/detail/awaited_item.hpp>
#include <kube/workqueue/detail/indexed_heap.hpp>
#include <kube/workqueue/detail/linked_list.hpp>
#include <kube/workqueue/detail/queue_metrics.hpp>
#include <kube/workqueue/detail/waiters.hpp>
#include <kube/workqueue/rate_limiters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>

namespace kube {

/// Priority for items that are not urgent: those of an initial list or a resync.
inline constexpr int kLowPriority = -100;

/// How PriorityQueue::add() adds an item.
struct PriorityAddOptions {
  int priority = 0;           ///< higher priorities come first
  Clock::Duration after{};    ///< minimum delay
  bool rate_limited = false;  ///< delay by the rate limiter; if `after` is set too, the shorter one
};

/// The priority queue of controller-runtime: a RateLimitingQueue that returns urgent items first,
/// and nothing after a shutdown. Items are deduplicated: adding an item again can only raise its
/// priority or shorten its delay. Items of equal priority are returned in the order in which they
/// became ready.
///
/// Uses no thread of its own, like WorkQueue. Thread safety: all methods but the destructor, from
/// any thread.
template <typename T>
class PriorityQueue {
 public:
  /// An item with the priority it was queued with.
  struct Item {
    T item;
    int priority = 0;
  };

  /// The default limiter is an ExponentialLimiter, 5 ms to 1000 s.
  explicit PriorityQueue(const WorkQueueOptions& options = {},
                         std::unique_ptr<ItemRateLimiter<T>> limiter = nullptr)
      : clock_(*options.clock),
        limiter_(limiter ? std::move(limiter) : std::make_unique<ExponentialLimiter<T>>()),
        waiters_(clock_),
        metrics_(options, detail::QueueMetrics::Style::kPriorities),
        collector_(metrics_.on_collect([this] { collect(); })) {}
  PriorityQueue(const PriorityQueue&) = delete;
  PriorityQueue& operator=(const PriorityQueue&) = delete;
  ~PriorityQueue() = default;

  /// Adds an item. No effect after a shutdown. If it throws std::bad_alloc, nothing was added.
  void add(const T& item, const PriorityAddOptions& options = {}) {
    Clock::Duration delay = options.after;
    if (options.rate_limited) {
      const Clock::Duration limit = limiter_->when(item);
      delay = delay > Clock::Duration{} ? std::min(delay, limit) : limit;
    }
    const std::lock_guard guard{mutex_};
    if (shutting_down_) return;
    promote_locked();
    // Allocate everything before the first change, so that a failed add() has no effect and can be
    // repeated.
    if (metrics_.on()) (void)metrics_.depth(options.priority);
    waiting_.reserve(entries_.size() + 1);
    ready_.reserve(entries_.size() + 1);
    add_locked(*entries_.try_emplace(item).first, options.priority, delay);
  }
  /// Adds an item after `delay`.
  void add_after(const T& item, Clock::Duration delay) { add(item, {.after = delay}); }
  /// Adds an item after the delay of the rate limiter.
  void add_rate_limited(const T& item) { add(item, {.rate_limited = true}); }
  /// Resets the failures of the item in the rate limiter.
  void forget(const T& item) { limiter_->forget(item); }
  /// Returns how often the item has failed.
  [[nodiscard]] int num_requeues(const T& item) const { return limiter_->num_requeues(item); }

  /// Waits for an item. Returns nothing after a shutdown or a stop.
  [[nodiscard]] std::optional<Item> get_with_priority(std::stop_token stop = {}) {
    std::unique_lock lock{mutex_};
    while (true) {
      promote_locked();
      if (shutting_down_) return std::nullopt;
      if (stop.stop_requested()) {
        if (!ready_.empty()) waiters_.wake_one();  // pass on a wake-up for another waiter
        waiters_.ensure_timed_waiter(next_locked());
        return std::nullopt;
      }
      if (!ready_.empty()) break;
      waiters_.wait(lock, next_locked(), stop);
    }
    return take_locked();
  }
  /// get_with_priority() without the priority.
  [[nodiscard]] std::optional<T> get(std::stop_token stop = {}) {
    std::optional<Item> found = get_with_priority(std::move(stop));
    if (!found) return std::nullopt;
    return std::move(found->item);
  }
  /// Awaitable form of get_with_priority(), which waits without a thread. A stop of the Task ends
  /// the wait as well. The queue must outlive the wait.
  [[nodiscard]] auto get_with_priority_async(std::stop_token stop = {}) {
    return detail::await_item<Item>(*this, std::move(stop));
  }
  /// get_with_priority_async() without the priority.
  [[nodiscard]] Task<std::optional<T>> get_async(std::stop_token stop = {}) {
    std::optional<Item> found = co_await get_with_priority_async(std::move(stop));
    if (!found) co_return std::nullopt;
    co_return std::move(found->item);
  }
  /// Marks an item as processed. No effect if it is not being processed.
  void done(const T& item) {
    const std::lock_guard guard{mutex_};
    const auto found = entries_.find(item);
    if (found == entries_.end() || !found->second.processing) return;
    State& state = found->second;
    processing_.erase(*found);
    state.processing = false;
    if (metrics_.on()) {
      detail::QueueMetrics::observe(metrics_.work_duration, clock_.now() - state.started_at);
    }
    if (state.place == Place::kReady) {
      ready_.push(*found);
      waiters_.wake_one();
    } else if (state.place == Place::kNone) {
      entries_.erase(found);
    }
  }

  /// Returns how many items are ready, including items that were added again while being processed.
  [[nodiscard]] std::size_t size() {
    const std::lock_guard guard{mutex_};
    promote_locked();
    return ready_count_;
  }

  /// Ends the queue: it accepts and returns no further item.
  void shut_down() {
    const std::lock_guard guard{mutex_};
    shutting_down_ = true;
    waiters_.wake_all();
  }
  /// Same as shut_down(): after a shutdown there is nothing to drain.
  void shut_down_with_drain() { shut_down(); }
  /// Returns whether the queue has been shut down.
  [[nodiscard]] bool shutting_down() const {
    const std::lock_guard guard{mutex_};
    return shutting_down_;
  }

 private:
  friend class detail::AwaitedItem<PriorityQueue, Item>;
  enum class Place : std::uint8_t {
    kNone,     // not queued
    kWaiting,  // in waiting_
    kReady,    // in ready_; if `processing`, done() puts it there
  };
  struct State;
  using Entry = std::pair<const T, State>;
  struct State {
    Entry* previous = nullptr;  // links in processing_
    Entry* next = nullptr;
    std::size_t heap_index = 0;  // in waiting_ or ready_
    std::uint64_t sequence = 0;  // tie-breaker
    Clock::TimePoint ready_at{};
    Clock::TimePoint started_at{};
    int priority = 0;
    Place place = Place::kNone;
    bool processing = false;
  };
  struct Links {
    State& operator()(Entry& entry) const noexcept { return entry.second; }
  };
  struct Index {
    std::size_t& operator()(Entry& entry) const noexcept { return entry.second.heap_index; }
  };
  struct Earlier {
    bool operator()(const Entry& a, const Entry& b) const noexcept {
      return a.second.ready_at != b.second.ready_at ? a.second.ready_at < b.second.ready_at
                                                    : a.second.sequence < b.second.sequence;
    }
  };
  struct Higher {
    bool operator()(const Entry& a, const Entry& b) const noexcept {
      return a.second.priority != b.second.priority ? a.second.priority > b.second.priority
                                                    : a.second.sequence < b.second.sequence;
    }
  };

  void add_locked(Entry& entry, int priority, Clock::Duration delay) {
    State& state = entry.second;
    const bool waits = delay > Clock::Duration{};
    if (waits) metrics_.retries.add();
    if (state.place == Place::kReady) return raise_locked(entry, priority);

    const bool is_new = state.place == Place::kNone;
    state.priority = is_new ? priority : std::max(priority, state.priority);
    if (!waits) {
      if (!is_new) waiting_.erase(entry);
      return make_ready_locked(entry, metrics_.on() ? clock_.now() : Clock::TimePoint{});
    }
    const Clock::TimePoint ready_at = waiters_.after(delay);
    if (!is_new && state.ready_at <= ready_at) return;
    state.ready_at = ready_at;
    state.sequence = ++sequence_;
    state.place = Place::kWaiting;
    if (is_new) {
      waiting_.push(entry);
    } else {
      waiting_.update(entry);
    }
    waiters_.ensure_timed_waiter(next_locked());
  }
  /// Raises the priority of a ready item. The item is placed after those that already have that
  /// priority.
  void raise_locked(Entry& entry, int priority) {
    State& state = entry.second;
    if (priority <= state.priority) return;
    if (metrics_.on()) {
      metrics_.depth(state.priority).add(-1);
      metrics_.depth(priority).add(1);
    }
    state.priority = priority;
    state.sequence = ++sequence_;
    if (!state.processing) ready_.update(entry);
  }
  /// Makes an item ready that is in neither heap.
  void make_ready_locked(Entry& entry, Clock::TimePoint ready_at) {
    State& state = entry.second;
    state.ready_at = ready_at;
    state.sequence = ++sequence_;
    state.place = Place::kReady;
    ++ready_count_;
    if (metrics_.on()) {
      metrics_.adds.add();
      metrics_.depth(state.priority).add(1);
    }
    if (state.processing) return;
    ready_.push(entry);
    waiters_.wake_one();
  }
  /// Takes the first ready item. Requires that there is one.
  [[nodiscard]] std::optional<Item> take_locked() {
    Entry& entry = ready_.top();
    State& state = entry.second;
    std::optional<Item> item{{entry.first, state.priority}};
    ready_.erase(entry);
    --ready_count_;
    state.place = Place::kNone;
    state.processing = true;
    processing_.push_back(entry);
    if (metrics_.on()) {
      state.started_at = clock_.now();
      metrics_.depth(state.priority).add(-1);
      detail::QueueMetrics::observe(metrics_.queue_duration, state.started_at - state.ready_at);
    }
    waiters_.ensure_timed_waiter(next_locked());
    return item;
  }
  /// Non-blocking get_with_priority(). Returns false if pending: the waiter will be woken, or polls
  /// again at `next`.
  [[nodiscard]] bool poll_get(detail::CoroutineWaiter& waiter, std::optional<Item>& item,
                              Clock::TimePoint& next) {
    const std::lock_guard guard{mutex_};
    promote_locked();
    if (ready_.empty() && !shutting_down_) {
      waiters_.add(waiter);
      next = next_locked();
      return false;
    }
    waiters_.remove(waiter);
    if (!shutting_down_) item = take_locked();
    return true;
  }
  void leave(detail::CoroutineWaiter& waiter) noexcept {
    const std::lock_guard guard{mutex_};
    waiters_.remove(waiter);
    if (!ready_.empty()) waiters_.wake_one();
    waiters_.ensure_timed_waiter(next_locked());
  }
  /// Moves items whose time has come from waiting_ to ready_.
  void promote_locked() {
    if (waiting_.empty()) return;
    const Clock::TimePoint now = clock_.now();
    while (!waiting_.empty() && waiting_.top().second.ready_at <= now) {
      Entry& entry = waiting_.top();
      waiting_.erase(entry);
      make_ready_locked(entry, entry.second.ready_at);
    }
  }
  [[nodiscard]] Clock::TimePoint next_locked() const noexcept {
    return waiting_.empty() ? Clock::TimePoint::max() : waiting_.top().second.ready_at;
  }
  void collect() {
    const std::lock_guard guard{mutex_};
    promote_locked();
    metrics_.set_running(processing_.front(), clock_.now());
  }

  Clock& clock_;
  const std::unique_ptr<ItemRateLimiter<T>> limiter_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::unordered_map<T, State> entries_;  // all items that are waiting, ready or processing
  detail::IndexedHeap<Entry, Earlier, Index> waiting_;
  detail::IndexedHeap<Entry, Higher, Index> ready_;
  detail::LinkedList<Entry, Links> processing_;
  std::size_t ready_count_ = 0;
  std::uint64_t sequence_ = 0;
  bool shutting_down_ = false;
  detail::Waiters waiters_;
  detail::QueueMetrics metrics_;

  MetricsCollector collector_;  // last member: collect() uses all others
};

}  // namespace kube
