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

/// Makes series of equal events of the kind events.k8s.io/v1: the first is created, the second makes a series of it,
/// the others are counted, and the number is written now and then. Notes may differ. Belongs to one thread at a
/// time.
class EventSeriesTracker {
 public:
  /// Older than this, a series is finished and a single event forgotten.
  static constexpr Clock::Duration kFinishAfter = std::chrono::minutes{6};

  /// What to send for `event`, if anything: the event itself, or its series (has_value).
  [[nodiscard]] std::optional<events::v1::Event> observe(events::v1::Event event);
  /// Remembers under which name the server keeps what was sent.
  void stored(const events::v1::Event& sent, const events::v1::Event& stored);
  /// All series as they are now, to be written.
  [[nodiscard]] std::vector<events::v1::Event> running();
  /// Forgets what is old and returns the series among it, to be written for the last time.
  [[nodiscard]] std::vector<events::v1::Event> finish(Clock::WallTime now);

 private:
  static constexpr std::size_t kMaxEvents = 4096;

  detail::LruCache<std::string, events::v1::Event> events_{kMaxEvents};
};

/// The strategic merge patch that writes the series of `event`.
[[nodiscard]] std::string series_patch(const events::v1::Event& event);

}  // namespace kube
