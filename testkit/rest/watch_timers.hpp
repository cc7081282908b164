// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// The timers of one running watch.
struct WatchTimer {
  std::shared_ptr<WatchCursor> cursor;
  bool bookmarks = false;
  std::uint64_t start_revision = 0;
  Clock::TimePoint next_bookmark = {};
  Clock::TimePoint deadline = {};
};

/// The running watches of a server, with the times of their next bookmark and of their end.
///
/// Thread safety: all methods, from any thread.
class WatchTimers {
 public:
  /// How long a watch with bookmarks goes without one (WT-21).
  static constexpr std::chrono::seconds kBookmarkPeriod{60};
  using Handle = std::list<WatchTimer>::iterator;
  using Cursors = std::vector<std::shared_ptr<WatchCursor>>;

  /// The watches for which something is due.
  struct Due {
    Cursors bookmarks;
    Cursors ended;
  };

  [[nodiscard]] Handle add(WatchTimer timer);
  void remove(Handle handle) noexcept;
  [[nodiscard]] std::size_t size() const;
  /// Returns all watches that asked for bookmarks.
  [[nodiscard]] Cursors with_bookmarks() const;
  /// Returns what is due at `now` and schedules the next bookmark of each watch that gets one.
  [[nodiscard]] Due take_due(Clock::TimePoint now, std::uint64_t revision);

 private:
  mutable std::mutex mutex_;
  std::list<WatchTimer> timers_;  // guarded by mutex_
};

}  // namespace kube::testkit::detail
