// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace kube {

void Condition::wake(int count) noexcept {
  static_assert(sizeof(changes_) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  (void)syscall(SYS_futex, &changes_, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

bool Condition::sleep(std::unique_lock<std::mutex>& lock, std::uint32_t seen, TimePoint deadline) {
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer defers signals while a thread is inside a system call that it does not
  // intercept, so the call is limited to a short time.
  const TimePoint wanted = deadline;
  deadline = std::min(wanted, std::chrono::steady_clock::now() + std::chrono::milliseconds{50});
#endif
  timespec until{};
  const timespec* limit = nullptr;
  if (deadline != TimePoint::max()) {
    // std::chrono::steady_clock is CLOCK_MONOTONIC, which FUTEX_WAIT_BITSET takes as an absolute
    // time.
    const auto since = std::max(deadline.time_since_epoch(), TimePoint::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    until.tv_sec = seconds.count();
    until.tv_nsec = std::chrono::nanoseconds{since - seconds}.count();
    limit = &until;
  }
  lock.unlock();
  const long result = syscall(SYS_futex, &changes_, FUTEX_WAIT_BITSET_PRIVATE, seen, limit, nullptr,
                              FUTEX_BITSET_MATCH_ANY);
  bool late = result == -1 && errno == ETIMEDOUT;
#ifdef __SANITIZE_THREAD__
  late = late && deadline == wanted;
#endif
  lock.lock();
  return !late;
}

}  // namespace kube
