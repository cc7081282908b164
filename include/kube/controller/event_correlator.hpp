// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/tokens.hpp>
#include <kube/controller/detail/lru_cache.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace kube {

/// Settings of an EventCorrelator.
struct EventCorrelatorOptions {
  std::size_t cache_size = 4096;  ///< size of each of the three LRU caches
  /// From this number of different messages on, similar events are aggregated into one...
  std::size_t max_similar = 10;
  /// ...unless they were more than this time apart.
  Clock::Duration max_pause = std::chrono::seconds{600};
  /// Rate limit for events about one object: this many at once...
  double spam_burst = 25;
  /// ...and then one per interval.
  Clock::Duration spam_interval = std::chrono::seconds{300};
};

/// Prevents a program from flooding the server with events: similar events are aggregated, equal
/// ones are counted, and the rest is rate-limited (client-go: EventCorrelator).
/// Thread safety: used by one thread at a time.
class EventCorrelator {
 public:
  /// The event to send, or the patch of an event that was sent before.
  struct Result {
    core::v1::Event event;
    std::string patch;  ///< patch of the event that was sent before; empty: create it
    std::string key;    ///< for stored()
  };

  /// `clock` must outlive the correlator.
  explicit EventCorrelator(Clock& clock, EventCorrelatorOptions options = {});

  /// Returns the event or patch to send for `event`, if any.
  [[nodiscard]] std::optional<Result> correlate(core::v1::Event event);
  /// Remembers the event as the server stored it.
  void stored(const std::string& key, const core::v1::Event& event);

 private:
  struct Similar {
    std::set<std::string> messages;
    Clock::TimePoint last;
  };
  struct Sent {
    std::string name;
    Time first_timestamp;
    int count = 0;
  };

  /// Aggregates similar events into one; returns the key to count it under.
  std::string aggregate(core::v1::Event& event);
  /// Returns the patch if the event was sent before.
  std::string count(core::v1::Event& event, const std::string& key);
  bool is_spam(const core::v1::Event& event);

  Clock& clock_;
  const EventCorrelatorOptions options_;
  detail::LruCache<std::string, Similar> similar_;
  detail::LruCache<std::string, Sent> sent_;
  detail::LruCache<std::string, Tokens> tokens_;
};

}  // namespace kube
