// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/delta_queue_core.hpp>

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
    case PopResult::kTimer:
      return "timer";
    case PopResult::kClosed:
      return "DeltaFIFO: manipulating with closed queue";
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

void DeltaQueueCore::set_timer(Clock::TimePoint time) {
  const std::lock_guard guard{mutex_};
  timer_ = time;
  timer_moved_ = true;
  items_.notify_all();
}

void DeltaQueueCore::hold(bool on) {
  std::unique_lock lock{mutex_};
  held_ = on;
  const bool wake = !on && size_locked() > 0;
  lock.unlock();
  if (wake) items_.notify_one();
}

void DeltaQueueCore::close() {
  const std::lock_guard guard{mutex_};
  closed_ = true;
  items_.notify_all();
  space_.notify_all();
}

std::unique_lock<std::mutex> DeltaQueueCore::lock_for_producer() {
  std::unique_lock lock{mutex_};
  const auto has_room = [&] {
    return closed_ || options_.max_items == 0 || size_locked() < options_.max_items;
  };
  if (!has_room()) {
    items_.notify_one();  // whatever is held
    space_.wait(lock, has_room);
  }
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
  const bool wake = !held_;
  fire_if_synced(std::move(lock));
  if (wake) items_.notify_one();
}

void DeltaQueueCore::fire_if_synced(std::unique_lock<std::mutex> lock) {
  if (fired_ || !populated_ || initial_ > 0) return;
  fired_ = true;
  lock.unlock();
  synced_.fire();
}

PopResult DeltaQueueCore::pop(const Process& process, bool wait) {
  std::vector<AnyDelta> batch;
  std::size_t initial_taken = 0;
  std::size_t left = 0;
  bool in_initial_list = false;
  {
    std::unique_lock lock{mutex_};
    for (bool again = wait; again;) {
      timer_moved_ = false;
      (void)options_.clock->wait_until(
          lock, items_, timer_, {}, [&] { return closed_ || timer_moved_ || size_locked() > 0; });
      again = timer_moved_ && !closed_ && size_locked() == 0;
    }
    if (timer_ != Clock::TimePoint::max() && options_.clock->now() >= timer_) {
      timer_ = Clock::TimePoint::max();
      return PopResult::kTimer;
    }
    if (size_locked() == 0) return closed_ ? PopResult::kClosed : PopResult::kEmpty;
    in_initial_list = !populated_ || initial_ > 0;
    initial_taken = take_locked(batch, initial_);
    left = size_locked();
    options_.queued.set(static_cast<double>(left));
    space_.notify_all();
  }
  const auto start = options_.clock->now();
  const std::size_t count = batch.size();
  const std::optional<Clock::TimePoint> read_at = batch.front().read_at;
  try {
    process(batch, in_initial_list);
  } catch (...) {
    // A list that was not applied, or not all of it, must not count as the state to begin with.
    settle(initial_taken, in_initial_list);
    throw;
  }
  settle(initial_taken, false);

  const auto end = options_.clock->now();
  if (read_at) options_.lag->observe(std::chrono::duration<double>(end - *read_at).count());
  const auto took = end - start;
  if (left > 10 && took > std::min<Clock::Duration>(100ms * count, count == 1 ? 100ms : 1s)) {
    options_.log.warning("{}: slow processing of {} items took {} ms, {} wait", options_.name,
                         count, std::chrono::duration_cast<std::chrono::milliseconds>(took).count(),
                         left);
  }
  return PopResult::kProcessed;
}

void DeltaQueueCore::settle(std::size_t initial_taken, bool list_failed) noexcept {
  std::unique_lock lock{mutex_};
  processed_locked();
  list_failed_ = list_failed_ || list_failed;
  if (list_failed_) return;  // until the next list comes
  initial_ -= std::min(initial_, initial_taken);
  fire_if_synced(std::move(lock));
}

}  // namespace detail
}  // namespace kube
