// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/delta_queue_core.hpp>

#include "base/waker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kube {

using namespace std::chrono_literals;

std::string_view to_string(DeltaType type) noexcept {
  switch (type) {
    case DeltaType::kAdded:
      return "Added";
    case DeltaType::kUpdated:
      return "Updated";
    case DeltaType::kDeleted:
      return "Deleted";
    case DeltaType::kReplaced:
      return "Replaced";
    case DeltaType::kSync:
      return "Sync";
    case DeltaType::kReplacedAll:
      return "ReplacedAll";
    case DeltaType::kSyncAll:
      return "SyncAll";
    case DeltaType::kBookmark:
      return "Bookmark";
  }
  return "?";
}

std::string_view to_string(PopResult result) noexcept {
  switch (result) {
    case PopResult::kProcessed:
      return "processed";
    case PopResult::kEmpty:
      return "empty";
    case PopResult::kClosed:
      return "the queue is closed";
  }
  return "?";
}

namespace detail {

DeltaQueueCore::DeltaQueueCore(const ObjectAccess& access, std::shared_ptr<const IndexerCore> known,
                               DeltaQueueOptions options)
    : access_(access),
      known_(std::move(known)),
      options_(std::move(options)),
      synced_(options_.name) {}

ObjectRef DeltaQueueCore::known(const void* object) const {
  return known_ == nullptr ? ObjectRef{} : known_->find(object);
}

void DeltaQueueCore::set_consumer(std::shared_ptr<Waker> consumer) {
  const std::lock_guard guard{mutex_};
  consumer_.swap(consumer);
}

void DeltaQueueCore::hold(bool on) {
  const std::lock_guard guard{mutex_};
  held_ = on;
}

void DeltaQueueCore::close() {
  const std::lock_guard guard{mutex_};
  closed_ = true;
  items_.notify_all();
  space_.notify_all();
}

bool DeltaQueueCore::has_room_locked() const {
  return closed_ || options_.max_items == 0 || size_locked() < options_.max_items;
}

bool DeltaQueueCore::is_full() const {
  const std::lock_guard guard{mutex_};
  return !has_room_locked();
}

std::unique_lock<std::mutex> DeltaQueueCore::lock_for_producer() {
  std::unique_lock lock{mutex_};
  // While held, producer and consumer are the same job: waiting would deadlock.
  space_.wait(lock, [&] { return held_ || has_room_locked(); });
  return lock;
}

void DeltaQueueCore::publish(std::unique_lock<std::mutex> lock, Operation operation,
                             std::size_t listed) {
  if (operation != Operation::kOther) {
    if (!populated_ || (list_failed_ && operation == Operation::kReplace)) {
      initial_ = listed;
      list_failed_ = false;
    }
    populated_ = true;
  }
  options_.queued.set(static_cast<double>(size_locked()));
  const std::shared_ptr<Waker> consumer = held_ ? nullptr : consumer_;
  fire_if_synced(std::move(lock));
  items_.notify_one();
  if (consumer) consumer->wake();
}

void DeltaQueueCore::fire_if_synced(std::unique_lock<std::mutex> lock) {
  if (fired_ || !populated_ || initial_ > 0) return;
  fired_ = true;
  lock.unlock();
  synced_.fire();
}

bool DeltaQueueCore::take(Taken& taken) {
  std::unique_lock lock{mutex_};
  return take(lock, taken);
}

bool DeltaQueueCore::take(std::unique_lock<std::mutex>& lock, Taken& taken) {
  if (size_locked() == 0) return false;
  taken = {};
  taken.in_initial_list = !populated_ || initial_ > 0;
  taken.start = options_.clock->now();
  taken.initial_items = take_locked(taken.deltas, initial_);
  taken.left = size_locked();
  taken.count = taken.deltas.size();
  taken.read_at = taken.deltas.front().read_at;
  options_.queued.set(static_cast<double>(taken.left));
  lock.unlock();
  space_.notify_all();
  return true;
}

void DeltaQueueCore::processed(const Taken& taken, bool failed) noexcept {
  {
    std::unique_lock lock{mutex_};
    processed_locked();
    // A list that was not fully applied must not count as the initial state.
    list_failed_ = list_failed_ || (failed && taken.in_initial_list);
    if (!list_failed_) {  // otherwise the next list decides
      initial_ -= std::min(initial_, taken.initial_items);
      fire_if_synced(std::move(lock));
    }
  }
  if (failed) return;
  const auto end = options_.clock->now();
  if (taken.read_at) {
    options_.lag->observe(std::chrono::duration<double>(end - *taken.read_at).count());
  }
  const auto took = end - taken.start;
  if (taken.left > 10 &&
      took > std::min<Clock::Duration>(100ms * taken.count, taken.count == 1 ? 100ms : 1s)) {
    options_.log.warning("{}: slow processing of {} items took {} ms, {} items are waiting",
                         options_.name, taken.count,
                         std::chrono::duration_cast<std::chrono::milliseconds>(took).count(),
                         taken.left);
  }
}

PopResult DeltaQueueCore::pop(const Process& process, bool wait) {
  Taken taken;
  {
    std::unique_lock lock{mutex_};
    if (wait) items_.wait(lock, [&] { return closed_ || size_locked() > 0; });
    if (!take(lock, taken)) return closed_ ? PopResult::kClosed : PopResult::kEmpty;
  }
  try {
    process(taken.deltas, taken.in_initial_list);
  } catch (...) {
    processed(taken, true);
    throw;
  }
  processed(taken, false);
  return PopResult::kProcessed;
}

}  // namespace detail
}  // namespace kube
