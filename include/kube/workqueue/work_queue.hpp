// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/metrics.hpp>
#include <kube/workqueue/detail/awaited_item.hpp>
#include <kube/workqueue/detail/indexed_heap.hpp>
#include <kube/workqueue/detail/linked_list.hpp>
#include <kube/workqueue/detail/queue_metrics.hpp>
#include <kube/workqueue/detail/waiters.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>

namespace kube {

/// A queue that deduplicates items: each is queued at most once. Items are returned in the order of
/// their first add(), or of the time given by add_after(). A worker takes an item with get() and
/// calls done() when it has processed it. Until then no other worker gets that item; if it is added
/// meanwhile, it is returned once more after done().
///
/// The queue has no thread: one of the waiting workers sleeps until the next delayed item is due.
///
/// T needs std::hash and ==. Thread safety: all methods but the destructor, from any thread.
template <typename T>
class WorkQueue {
 public:
  /// `on_touch` is called, without a lock, when an item is added that is already queued.
  explicit WorkQueue(WorkQueueOptions options = {}, std::function<void(const T&)> on_touch = {})
      : clock_(*options.clock),
        on_touch_(std::move(on_touch)),
        waiters_(clock_),
        metrics_(options, detail::QueueMetrics::Style::kPlain),
        collector_(metrics_.on_collect([this] { collect(); })) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() = default;

  /// Adds an item. No effect after a shutdown.
  void add(const T& item) {
    {
      const std::lock_guard guard{mutex_};
      if (shutting_down_) return;
      promote_locked();
      Entry& entry = *entries_.try_emplace(item).first;
      if (mark_dirty_locked(entry, std::nullopt) || entry.second.processing) return;
    }
    if (on_touch_) on_touch_(item);
  }
  /// Adds an item after `delay`. If it already waits, the earlier time counts. An add() in between
  /// is independent: the item is still added at its time. No effect after a shutdown, which also
  /// drops delayed items.
  void add_after(const T& item, Clock::Duration delay) {
    if (delay <= Clock::Duration{}) {
      count_retry();
      return add(item);
    }
    const std::lock_guard guard{mutex_};
    if (shutting_down_) return;
    waiting_.reserve(entries_.size() + 1);  // first, so that nothing has been added if it throws
    metrics_.retries.add();
    const Clock::TimePoint ready_at = waiters_.after(delay);
    Entry& entry = *entries_.try_emplace(item).first;
    State& state = entry.second;
    if (state.waiting && state.ready_at <= ready_at) return;
    state.ready_at = ready_at;
    state.sequence = ++sequence_;
    if (std::exchange(state.waiting, true)) {
      waiting_.update(entry);
    } else {
      waiting_.push(entry);
    }
    waiters_.ensure_timed_waiter(next_locked());
  }

  /// Waits for an item. Returns nothing after a stop, and after a shutdown once the queue is empty.
  [[nodiscard]] std::optional<T> get(std::stop_token stop = {}) {
    std::unique_lock lock{mutex_};
    while (true) {
      promote_locked();
      if (stop.stop_requested()) {
        if (!queued_.empty()) waiters_.wake_one();  // pass on a wake-up for another waiter
        waiters_.ensure_timed_waiter(next_locked());
        return std::nullopt;
      }
      if (!queued_.empty()) break;
      if (shutting_down_) return std::nullopt;
      waiters_.wait(lock, next_locked(), stop);
    }
    return take_locked();
  }
  /// Awaitable form of get(), which waits without a thread. A stop of the Task ends the wait as
  /// well. The queue must outlive the wait.
  [[nodiscard]] auto get_async(std::stop_token stop = {}) {
    return detail::await_item<T>(*this, std::move(stop));
  }
  /// Marks an item as processed. No effect if it is not being processed.
  void done(const T& item) {
    const std::lock_guard guard{mutex_};
    const auto found = entries_.find(item);
    if (found == entries_.end() || !found->second.processing) return;
    promote_locked();
    State& state = found->second;
    processing_.erase(*found);
    state.processing = false;
    if (metrics_.on()) {
      detail::QueueMetrics::observe(metrics_.work_duration, clock_.now() - state.started_at);
    }
    if (state.dirty) {
      queued_.push_back(*found);
      waiters_.wake_one();
    } else if (!state.waiting) {
      entries_.erase(found);
    }
    if (draining_ && processing_.empty()) drained_.notify_all();
  }

  /// Returns how many items are queued, not counting those being processed or delayed.
  [[nodiscard]] std::size_t size() {
    const std::lock_guard guard{mutex_};
    promote_locked();
    return queued_.size();
  }

  /// Accepts no further items. Queued items are still returned. Does not wait, and ends a waiting
  /// shut_down_with_drain().
  void shut_down() {
    const std::lock_guard guard{mutex_};
    shut_down_locked();
  }
  /// Shuts down and waits until no item is being processed. Returns false if shut_down() or a stop
  /// ended the wait.
  bool shut_down_with_drain(std::stop_token stop = {}) {
    std::unique_lock lock{mutex_};
    shut_down_locked();
    draining_ = true;
    drained_.wait(lock, stop, [this] { return processing_.empty() || !draining_; });
    return processing_.empty();
  }
  /// Returns whether the queue has been shut down.
  [[nodiscard]] bool shutting_down() const {
    const std::lock_guard guard{mutex_};
    return shutting_down_;
  }

 private:
  friend class detail::AwaitedItem<WorkQueue, T>;
  struct State;
  using Entry = std::pair<const T, State>;
  struct State {
    // Links in queued_ or processing_, never in both.
    Entry* previous = nullptr;
    Entry* next = nullptr;
    // Valid while `waiting`:
    std::size_t heap_index = 0;
    Clock::TimePoint ready_at{};
    std::uint64_t sequence = 0;
    // For metrics:
    Clock::TimePoint added_at{};
    Clock::TimePoint started_at{};
    bool dirty = false;  // queued; if `processing`, done() queues it
    bool processing = false;
    bool waiting = false;  // in waiting_
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

  /// Returns false if the item was dirty already. If `added_at` is not set, the current time is
  /// used.
  bool mark_dirty_locked(Entry& entry, std::optional<Clock::TimePoint> added_at) {
    State& state = entry.second;
    if (state.dirty) return false;
    state.dirty = true;
    if (metrics_.on()) {
      state.added_at = added_at ? *added_at : clock_.now();
      metrics_.adds.add();
      metrics_.depth().add(1);
    }
    if (!state.processing) {
      queued_.push_back(entry);
      waiters_.wake_one();
    }
    return true;
  }
  /// Queues the delayed items whose time has come.
  void promote_locked() {
    if (waiting_.empty()) return;
    const Clock::TimePoint now = clock_.now();
    while (!waiting_.empty() && waiting_.top().second.ready_at <= now) {
      Entry& entry = waiting_.top();
      waiting_.erase(entry);
      entry.second.waiting = false;
      mark_dirty_locked(entry, entry.second.ready_at);
    }
  }
  [[nodiscard]] Clock::TimePoint next_locked() const noexcept {
    return waiting_.empty() ? Clock::TimePoint::max() : waiting_.top().second.ready_at;
  }
  /// Takes the first queued item. Requires that there is one.
  [[nodiscard]] std::optional<T> take_locked() {
    Entry& entry = *queued_.front();
    std::optional<T> item{entry.first};
    queued_.erase(entry);
    processing_.push_back(entry);
    entry.second.dirty = false;
    entry.second.processing = true;
    if (metrics_.on()) {
      entry.second.started_at = clock_.now();
      metrics_.depth().add(-1);
      detail::QueueMetrics::observe(metrics_.queue_duration,
                                    entry.second.started_at - entry.second.added_at);
    }
    waiters_.ensure_timed_waiter(next_locked());
    return item;
  }
  /// Non-blocking get(). Returns false if pending: the waiter will be woken, or polls again at
  /// `next`.
  [[nodiscard]] bool poll_get(detail::CoroutineWaiter& waiter, std::optional<T>& item,
                              Clock::TimePoint& next) {
    const std::lock_guard guard{mutex_};
    promote_locked();
    if (queued_.empty() && !shutting_down_) {
      waiters_.add(waiter);
      next = next_locked();
      return false;
    }
    waiters_.remove(waiter);
    if (!queued_.empty()) item = take_locked();
    return true;
  }
  void leave(detail::CoroutineWaiter& waiter) noexcept {
    const std::lock_guard guard{mutex_};
    waiters_.remove(waiter);
    if (!queued_.empty()) waiters_.wake_one();
    waiters_.ensure_timed_waiter(next_locked());
  }
  void shut_down_locked() {
    shutting_down_ = true;
    draining_ = false;
    while (!waiting_.empty()) {
      Entry& entry = waiting_.top();
      waiting_.erase(entry);
      entry.second.waiting = false;
      if (!entry.second.dirty && !entry.second.processing)
        entries_.erase(entries_.find(entry.first));
    }
    waiters_.wake_all();
    drained_.notify_all();
  }
  void count_retry() {
    const std::lock_guard guard{mutex_};
    if (!shutting_down_) metrics_.retries.add();
  }
  void collect() {
    const std::lock_guard guard{mutex_};
    promote_locked();
    metrics_.set_running(processing_.front(), clock_.now());
  }

  Clock& clock_;
  const std::function<void(const T&)> on_touch_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::unordered_map<T, State> entries_;  // all items that are dirty, processing or waiting
  detail::LinkedList<Entry, Links> queued_;
  detail::LinkedList<Entry, Links> processing_;
  detail::IndexedHeap<Entry, Earlier, Index> waiting_;
  std::uint64_t sequence_ = 0;
  bool shutting_down_ = false;
  bool draining_ = false;
  detail::Waiters waiters_;
  Condition drained_;
  detail::QueueMetrics metrics_;

  MetricsCollector collector_;  // last member: collect() uses all others
};

}  // namespace kube
