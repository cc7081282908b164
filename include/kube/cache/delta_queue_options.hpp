// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace kube {

/// How a queue works. Any field may be left out.
struct DeltaQueueOptions {
  std::string name = {};
  /// With that many deltas waiting, producers wait, too, and so does the server's stream; 0: no limit. (A
  /// list counts as one delta in the in-order queue, and never waits halfway in the DeltaFifo.)
  std::size_t max_items = 2'000;
  /// In-order queue: deltas that are taken at once.
  std::size_t batch_size = 1'000;
  /// In-order queue: an update that waits is dropped when a newer one of the same object comes. Order stays.
  bool compress = false;
  Clock* clock = &system_clock();
  Logger log = {};
  Gauge queued = {};  ///< deltas that wait
  /// If set, gets the time from adding an event to having it processed.
  std::optional<Histogram> lag = std::nullopt;
};

}  // namespace kube
