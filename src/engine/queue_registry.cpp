// SPDX-License-Identifier: Apache-2.0
#include "queue_registry.hpp"

#include <memory>

namespace kube::detail {

namespace {

bool& is_ending() noexcept {
  thread_local bool ending = false;
  return ending;
}

}  // namespace

bool QueueRegistry::is_ending_here() noexcept { return is_ending(); }

bool QueueRegistry::add(SerialQueueCore& queue) noexcept {
  const std::lock_guard guard{mutex_};
  queues_.push_back(queue);
  return (inside_.load() & kEnded) == 0;
}

bool QueueRegistry::add(SpawnedBase& spawned) noexcept {
  const std::lock_guard guard{mutex_};
  if ((inside_.load() & kEnded) != 0) return false;
  spawned_.push_back(spawned);
  return true;
}

void QueueRegistry::remove(SerialQueueCore& queue) noexcept {
  const std::lock_guard guard{mutex_};
  queues_.erase(queues_.iterator_to(queue));
}

bool QueueRegistry::remove(SpawnedBase& spawned) noexcept {
  const std::lock_guard guard{mutex_};
  if (!spawned.is_linked()) return false;
  spawned_.erase(spawned_.iterator_to(spawned));
  return true;
}

bool QueueRegistry::enter() noexcept {
  std::uint32_t seen = inside_.load();
  do {
    if ((seen & kEnded) != 0) return false;
  } while (!inside_.compare_exchange_weak(seen, seen + 1));
  return true;
}

void QueueRegistry::leave() noexcept {
  if (inside_.fetch_sub(1) == (kEnded | 1)) finish();
}

void QueueRegistry::end() noexcept {
  std::uint32_t before = 0;
  {
    const std::lock_guard guard{mutex_};  // a queue that is added later sees kEnded
    before = inside_.fetch_or(kEnded);
  }
  if (before == 0) finish();
}

/// Calls `visit` for each queue. Queues may be added and removed meanwhile.
template <typename Visit>
void QueueRegistry::visit(const Visit& visit) noexcept {
  std::size_t left = [&] {
    const std::lock_guard guard{mutex_};
    return queues_.size();
  }();
  for (; left > 0; --left) {
    std::shared_ptr<Job> queue;
    {
      const std::lock_guard guard{mutex_};
      if (queues_.empty()) return;
      SerialQueueCore& first = queues_.front();
      queues_.splice(queues_.end(), queues_, queues_.begin());
      queue = first.weak_from_this().lock();
    }
    if (queue != nullptr) visit(static_cast<SerialQueueCore&>(*queue));
  }
}

void QueueRegistry::finish() noexcept {
  is_ending() = true;
  bool more = true;
  while (more) {
    more = false;
    visit([&](SerialQueueCore& queue) { more = queue.run_at_end() || more; });
  }
  for (;;) {
    SpawnedBase* spawned = nullptr;
    {
      const std::lock_guard guard{mutex_};
      if (spawned_.empty()) break;
      spawned = &spawned_.front();
      spawned_.pop_front();
    }
    spawned->destroy();
  }
  visit([](SerialQueueCore& queue) { queue.fire_closed(); });
  is_ending() = false;
}

}  // namespace kube::detail
