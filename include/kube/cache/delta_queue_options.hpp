// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace kube {

/// Settings of a queue. Any field may be left out.
struct DeltaQueueOptions {
  std::string name = {};  ///< name in logs
  /// Back-pressure: with this many deltas queued, producers wait, and so does the server's stream.
  /// 0: no limit. The in-order queue counts a list as one delta; the DeltaFifo never waits in the
  /// middle of a list.
  std::size_t max_items = 2'000;
  /// In-order queue: maximum number of deltas per batch.
  std::size_t batch_size = 1'000;
  /// In-order queue: coalesces a waiting update with a newer one of the same object. The order
  /// stays.
  bool compress = false;
  /// Measures lag and processing time. Must outlive the queue.
  Clock* clock = &system_clock();
  /// Receives slow batches; silent by default.
  Logger log = {};
  Gauge queued = {};  ///< deltas waiting
  /// If set, observes the time from adding an event to having it processed.
  std::optional<Histogram> lag = std::nullopt;
};

}  // namespace kube
