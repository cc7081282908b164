// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/cache/indexer_core.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {

/// A queue that holds only the newest state of each object, in the order of their first arrival.
///
/// It is synced once all objects of the first replace() have been processed, or immediately if
/// another operation came first.
/// Thread safety: producers from any thread; pop() from one thread at a time.
template <typename T>
class Fifo {
 public:
  /// Enqueues the object. Throws KeyError if it has no name.
  void add(const Ref<T>& object) {
    const auto& access = detail::kObjectAccess<T>;
    if (access.name(object.get()).empty()) {
      throw KeyError("object has no meta: metadata.name is empty");
    }
    change([&] {
      const std::string key = access.key(object.get());
      if (!objects_.contains(key)) order_.push_back(key);
      objects_[key] = object;
    });
  }
  void erase(const std::string& key) {
    change([&] { objects_.erase(key); });  // pop() skips the key that remains in the order
  }
  /// Replaces the whole content of the queue.
  void replace(const std::vector<Ref<T>>& objects) {
    const std::lock_guard guard{mutex_};
    objects_.clear();
    order_.clear();
    for (const Ref<T>& object : objects) {
      const std::string key = detail::kObjectAccess<T>.key(object.get());
      if (objects_.emplace(key, object).second) {
        order_.push_back(key);
      } else {
        objects_[key] = object;
      }
    }
    if (!populated_) initial_ = order_.size();
    populated_ = true;
    work_.notify_all();
    fire_if_synced_locked();
  }
  /// Takes the oldest object and calls `process(object, in_initial_list)` without holding a lock.
  /// Returns false if the queue is closed and empty, or after a stop.
  template <typename Process>
  bool pop(Process process, std::stop_token stop = {}) {
    Ref<T> object;
    bool initial = false;
    {
      std::unique_lock lock{mutex_};
      while (object == nullptr) {
        if (!work_.wait(lock, stop, [&] { return closed_ || !order_.empty(); })) return false;
        if (order_.empty()) return false;
        const std::string key = std::move(order_.front());
        order_.pop_front();
        initial = initial_ > 0;
        if (const auto found = objects_.find(key); found != objects_.end()) {
          object = std::move(found->second);
          objects_.erase(found);
        } else if (initial) {
          --initial_;
          fire_if_synced_locked();
        }
      }
    }
    process(object, initial);
    const std::lock_guard guard{mutex_};
    initial_ -= std::min<std::size_t>(initial_, 1);
    fire_if_synced_locked();
    return true;
  }
  /// Makes pop() return false once the queue is empty, instead of waiting.
  void close() {
    const std::lock_guard guard{mutex_};
    closed_ = true;
    work_.notify_all();
  }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard{mutex_};
    return objects_.size();
  }

 private:
  template <typename Change>
  void change(Change change) {
    const std::lock_guard guard{mutex_};
    change();
    populated_ = true;
    work_.notify_one();
    fire_if_synced_locked();
  }
  void fire_if_synced_locked() {
    if (populated_ && initial_ == 0) synced_.fire();
  }

  const DoneSignal synced_{"FIFO"};
  mutable std::mutex mutex_;
  Condition work_;
  // Guarded by mutex_:
  std::unordered_map<std::string, Ref<T>> objects_;
  std::deque<std::string> order_;
  bool populated_ = false;
  bool closed_ = false;
  std::size_t initial_ = 0;
};

}  // namespace kube
