// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>

#include <algorithm>
#include <iterator>

namespace kube::testkit {

Clock::TimePoint FakeClock::now() const {
  const std::lock_guard guard{mutex_};
  return now_;
}

Clock::WallTime FakeClock::wall_now() const {
  const std::lock_guard guard{mutex_};
  return wall_;
}

bool FakeClock::wait_until(std::unique_lock<std::mutex>& lock, Condition& condition,
                           TimePoint deadline, std::stop_token stop,
                           const std::function<bool()>& ready) {
  if (deadline == TimePoint::max()) return condition.wait(lock, std::move(stop), ready);
  if (ready()) return true;
  std::multiset<TimePoint>::iterator entry;
  {
    const std::lock_guard guard{mutex_};
    entry = deadlines_.insert(deadline);
    ++changes_;
    changed_.notify_all();
  }
  // Polls: advance() cannot notify `condition`, which may have been destroyed by then.
  bool done = false;
  while (!done && !stop.stop_requested() && now() < deadline) {
    done = condition.wait_until(
        lock, stop, std::chrono::steady_clock::now() + std::chrono::milliseconds{1}, ready);
  }
  {
    const std::lock_guard guard{mutex_};
    deadlines_.erase(entry);
    ++changes_;
    changed_.notify_all();
  }
  return done || ready();
}

void FakeClock::advance(Duration by) {
  const std::lock_guard guard{mutex_};
  move_locked(by);
}

void FakeClock::move_locked(Duration by) {
  now_ += by;
  wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  changed_.notify_all();
  for (ClockTimers* timers : timers_) timers->time_moved();
}

bool FakeClock::attach(ClockTimers& timers) {
  const std::lock_guard guard{mutex_};
  timers_.push_back(&timers);
  return true;
}

void FakeClock::detach(ClockTimers& timers) noexcept {
  const std::lock_guard guard{mutex_};
  std::erase(timers_, &timers);
}

void FakeClock::timers_changed() noexcept {
  const std::lock_guard guard{mutex_};
  ++changes_;
  changed_.notify_all();
}

std::size_t FakeClock::sleepers_locked() const {
  auto count =
      static_cast<std::size_t>(std::distance(deadlines_.upper_bound(now_), deadlines_.end()));
  for (const ClockTimers* timers : timers_) count += timers->pending(now_);
  return count;
}

Clock::TimePoint FakeClock::next_deadline_locked() const {
  const auto next = deadlines_.upper_bound(now_);
  TimePoint earliest = next == deadlines_.end() ? TimePoint::max() : *next;
  for (const ClockTimers* timers : timers_) {
    earliest = std::min(earliest, timers->next_after(now_));
  }
  return earliest;
}

void FakeClock::jump_wall(Duration by) {
  const std::lock_guard guard{mutex_};
  wall_ += std::chrono::duration_cast<WallTime::duration>(by);
}

bool FakeClock::wait_for_sleepers(std::size_t count, Duration limit) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [&] { return sleepers_locked() >= count; });
}

bool FakeClock::wait_for_sleeper_until(TimePoint deadline, Duration limit) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [&] { return next_deadline_locked() <= deadline; });
}

bool FakeClock::advance_until(const std::function<bool()>& condition, Duration limit) {
  // Long enough for a woken thread to reach its next wait.
  constexpr std::chrono::milliseconds kMoment{5};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::unique_lock lock{mutex_};
    // A change of deadlines means that some thread is still running.
    const std::uint64_t changes = changes_;
    if (changed_.wait_for(lock, kMoment, [&] { return changes_ != changes; })) continue;
    const TimePoint next = next_deadline_locked();
    if (next != TimePoint::max()) move_locked(next - now_);
  }
  return true;
}

std::size_t FakeClock::sleepers() const {
  const std::lock_guard guard{mutex_};
  return sleepers_locked();
}

Clock::TimePoint FakeClock::next_deadline() const {
  const std::lock_guard guard{mutex_};
  return next_deadline_locked();
}

}  // namespace kube::testkit
