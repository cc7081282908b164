// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/watch_timers.hpp"

#include <utility>

namespace kube::testkit::detail {

namespace {

/// A watch gets a bookmark this long before its end, so that the client can resume there.
constexpr std::chrono::seconds kLastBookmarks{2};

}  // namespace

WatchTimers::Handle WatchTimers::add(WatchTimer timer) {
  const std::lock_guard lock{mutex_};
  return timers_.insert(timers_.end(), std::move(timer));
}

void WatchTimers::remove(Handle handle) noexcept {
  const std::lock_guard lock{mutex_};
  timers_.erase(handle);
}

std::size_t WatchTimers::size() const {
  const std::lock_guard lock{mutex_};
  return timers_.size();
}

WatchTimers::Cursors WatchTimers::with_bookmarks() const {
  Cursors cursors;
  const std::lock_guard lock{mutex_};
  for (const WatchTimer& timer : timers_) {
    if (timer.bookmarks) cursors.push_back(timer.cursor);
  }
  return cursors;
}

WatchTimers::Due WatchTimers::take_due(Clock::TimePoint now, std::uint64_t revision) {
  Due due;
  const std::lock_guard lock{mutex_};
  for (WatchTimer& timer : timers_) {
    if (now >= timer.deadline) {
      due.ended.push_back(timer.cursor);
    } else if (timer.bookmarks && revision > timer.start_revision &&
               (now >= timer.next_bookmark || timer.deadline - now <= kLastBookmarks)) {
      timer.next_bookmark = now + kBookmarkPeriod;
      due.bookmarks.push_back(timer.cursor);
    }
  }
  return due;
}

}  // namespace kube::testkit::detail
