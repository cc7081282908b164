// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace kube::testkit::detail {

/// Schedules the deletion of Event objects, a fixed time after their last write (BK-3).
///
/// Thread safety: all methods, from any thread.
class EventExpiry {
 public:
  /// The time at which an Event object expires, unless it is written again.
  struct Entry {
    Clock::TimePoint at;
    std::string key;
    std::uint64_t revision = 0;
  };

  EventExpiry(Clock& clock, Clock::Duration ttl) : clock_(clock), ttl_(ttl) {}

  /// Allocates the entry for schedule(), so that it cannot fail.
  void prepare(const std::string& key);
  /// Sets the expiry of `key`, which was written at `revision`. Ignores keys without prepare().
  void schedule(const std::string& key, std::uint64_t revision) noexcept;
  /// Returns the first entry that is due. It remains scheduled until forget().
  [[nodiscard]] std::optional<Entry> due(Clock::TimePoint now) const;
  /// Removes an entry, unless the event has been written again.
  void forget(const Entry& entry) noexcept;
  void clear() noexcept;

 private:
  Clock& clock_;
  const Clock::Duration ttl_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::list<Entry> entries_;  ///< ordered by time, one per key
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace kube::testkit::detail
