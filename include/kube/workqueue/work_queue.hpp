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

/// What is to be done, each item once: items in the order of their first add(), or of the time that add_after()
/// gave them. A worker takes an item with get() and says done() when it is through. Until then nobody else gets that
/// item; if it is added meanwhile, it is handed out once more after done().
///
/// The queue has no thread: one of the workers that wait keeps the time of the items that wait.
///
/// T is anything with std::hash and ==. Thread safety: all methods but the destructor, from any thread.
template <typename T>
class WorkQueue {
 public:
  /// `on_touch` is called, outside of all locks, for an item that was added while it was in the queue already.
  explicit WorkQueue(WorkQueueOptions options = {}, std::function<void(const T&)> on_touch = {})
      : clock_(*options.clock),
        on_touch_(std::move(on_touch)),
        waiters_(clock_),
        metrics_(options, detail::QueueMetrics::Style::kPlain),
        collector_(metrics_.on_collect([this] { collect(); })) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() = default;

  /// Does nothing after a shutdown.
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
  /// Adds the item when the time has come; the earlier one, if it waits already. It may be added directly, too, and
  /// will still be added at its time. Does nothing after a shutdown, and a shutdown forgets those that wait.
  void add_after(const T& item, Clock::Duration delay) {
    if (delay <= Clock::Duration{}) {
      count_retry();
      return add(item);
    }
    const std::lock_guard guard{mutex_};
    if (shutting_down_) return;
    waiting_.reserve(entries_.size() + 1);  // first: what throws has added nothing
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
    waiters_.keep_time(next_locked());
  }

  /// Waits for an item. None after a shutdown, once the queue is empty, and after a stop.
  [[nodiscard]] std::optional<T> get(std::stop_token stop = {}) {
    std::unique_lock lock{mutex_};
    while (true) {
      promote_locked();
      if (stop.stop_requested()) {
        if (!queued_.empty()) waiters_.wake_one();  // whom we may have been woken instead of
        waiters_.keep_time(next_locked());
        return std::nullopt;
      }
      if (!queued_.empty()) break;
      if (shutting_down_) return std::nullopt;
      waiters_.wait(lock, next_locked(), stop);
    }
    return take_locked();
  }
  /// `co_await get_async()` is the same for a coroutine, which waits without a thread; a stop of its Task counts as well.
  /// The queue has to outlive the wait.
  [[nodiscard]] auto get_async(std::stop_token stop = {}) {
    return detail::await_item<T>(*this, std::move(stop));
  }
  /// Harmless for an item that is not being processed.
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

  /// How many items are queued, without those in processing and those that wait for their time.
  [[nodiscard]] std::size_t size() {
    const std::lock_guard guard{mutex_};
    promote_locked();
    return queued_.size();
  }

  /// Takes no further items; hands out what is queued and then none. Does not wait, and releases a drain.
  void shut_down() {
    const std::lock_guard guard{mutex_};
    shut_down_locked();
  }
  /// Does the same, then waits until no item is in processing. Returns false if it was released before, by
  /// shut_down() or a stop.
  bool shut_down_with_drain(std::stop_token stop = {}) {
    std::unique_lock lock{mutex_};
    shut_down_locked();
    draining_ = true;
    drained_.wait(lock, stop, [this] { return processing_.empty() || !draining_; });
    return processing_.empty();
  }
  [[nodiscard]] bool shutting_down() const {
    const std::lock_guard guard{mutex_};
    return shutting_down_;
  }

 private:
  friend class detail::AwaitedItem<WorkQueue, T>;
  struct State;
  using Entry = std::pair<const T, State>;
  struct State {
    // Links in queued_ or in processing_; never in both.
    Entry* previous = nullptr;
    Entry* next = nullptr;
    // Meaningful while `waiting`:
    std::size_t heap_index = 0;
    Clock::TimePoint ready_at{};
    std::uint64_t sequence = 0;
    // For metrics:
    Clock::TimePoint added_at{};
    Clock::TimePoint started_at{};
    bool dirty = false;  // to be handed out: queued, or, if `processing`, to be queued by done()
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

  /// Returns false if it was dirty already. Without a time, the item is added now.
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
  /// Adds those whose time has come.
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
  /// The first item that is queued; there has to be one.
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
    waiters_.keep_time(next_locked());
    return item;
  }
  /// get() without waiting. False if the waiter is to be woken, or polls again at `next`.
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
    waiters_.keep_time(next_locked());
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
  std::unordered_map<T, State> entries_;  // all that are dirty, processing or waiting
  detail::LinkedList<Entry, Links> queued_;
  detail::LinkedList<Entry, Links> processing_;
  detail::IndexedHeap<Entry, Earlier, Index> waiting_;
  std::uint64_t sequence_ = 0;
  bool shutting_down_ = false;
  bool draining_ = false;
  detail::Waiters waiters_;
  Condition drained_;
  detail::QueueMetrics metrics_;

  MetricsCollector collector_;  // the last member: collect() must not find the others gone
};

}  // namespace kube
