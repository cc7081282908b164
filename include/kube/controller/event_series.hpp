// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/events/v1.hpp>
#include <kube/base/clock.hpp>
#include <kube/controller/detail/lru_cache.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kube {

/// Groups equal events.k8s.io/v1 events into series: the first is created, the second turns it into
/// a series, later ones are counted, and the count is written periodically. Notes may differ.
/// Thread safety: used by one thread at a time.
class EventSeriesTracker {
 public:
  /// After this time without an event a series is finished, and a single event is forgotten.
  static constexpr Clock::Duration kFinishAfter = std::chrono::minutes{6};

  /// Returns the event to send for `event`, if any: the event itself, or its series (has_value).
  [[nodiscard]] std::optional<events::v1::Event> observe(events::v1::Event event);
  /// Remembers the name under which the server stored a sent event.
  void stored(const events::v1::Event& sent, const events::v1::Event& stored);
  /// Returns all running series in their current state, to be written.
  [[nodiscard]] std::vector<events::v1::Event> running();
  /// Forgets old events, and returns the series among them, to be written for the last time.
  [[nodiscard]] std::vector<events::v1::Event> finish(Clock::WallTime now);

 private:
  static constexpr std::size_t kMaxEvents = 4096;

  detail::LruCache<std::string, events::v1::Event> events_{kMaxEvents};
};

/// Returns the strategic merge patch that writes the series of `event`.
[[nodiscard]] std::string series_patch(const events::v1::Event& event);

}  // namespace kube
