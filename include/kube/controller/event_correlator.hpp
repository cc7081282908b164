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

struct EventCorrelatorOptions {
  std::size_t cache_size = 4096;  ///< of each of the three memories
  /// From so many different messages about one thing on they become one event...
  std::size_t max_similar = 10;
  /// ...unless there was a pause longer than this.
  Clock::Duration max_pause = std::chrono::seconds{600};
  /// Events about one object: so many at once, then one per interval.
  double spam_burst = 25;
  Clock::Duration spam_interval = std::chrono::seconds{300};
};

/// Keeps a program that repeats itself from flooding the server with events: similar ones become one, equal ones are
/// counted, and what is still too much is dropped. Belongs to one thread at a time.
class EventCorrelator {
 public:
  struct Result {
    core::v1::Event event;
    std::string patch;  ///< how to change the event sent before; empty: create it
    std::string key;    ///< for stored()
  };

  explicit EventCorrelator(Clock& clock, EventCorrelatorOptions options = {});

  /// What to send for `event`, if anything.
  [[nodiscard]] std::optional<Result> correlate(core::v1::Event event);
  /// Remembers what the server made of it.
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

  /// Makes one event of many similar ones; returns the key to count it under.
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
