// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/controller/event_correlator.hpp>
#include <kube/controller/event_sink.hpp>
#include <kube/controller/identity.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube {

/// Settings of an EventRecorder.
struct EventRecorderOptions {
  std::string component{};         ///< reporting component
  std::string host = host_name();  ///< host that reports
  std::size_t queue_size = 1000;   ///< maximum number of events waiting to be sent
  /// How similar events are aggregated and limited.
  EventCorrelatorOptions correlation{};
  /// Times of events and pauses between retries. Must outlive the recorder.
  Clock* clock = &system_clock();
  /// The source of jitter.
  Random random = system_random();
  /// Receives a line for each event that is dropped.
  Logger log = stderr_logger();
};

/// Records events about objects, which `kubectl describe` shows. These are core/v1 events; see
/// EventsV1Recorder.
///
/// Recording never blocks. The events are sent on the threads of the sink's client (a sink without
/// a client shares a Runtime with others). Without an answer they are retried for two minutes. When
/// the queue is full, further events are dropped and logged.
/// Thread safety: all methods, from any thread. The destructor drops unsent events, and waits until
/// the sink has returned; call flush() first if events matter.
class EventRecorder {
 public:
  /// Throws as the constructor of Runtime.
  EventRecorder(std::shared_ptr<EventSink> sink, EventRecorderOptions options);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;
  ~EventRecorder();

  /// Records an event. `type` is "Normal" or "Warning"; any other is dropped and logged.
  template <typename T>
  void record(const T& object, std::string_view type, std::string_view reason,
              std::string_view message) {
    record(reference_to(object), type, reason, message);
  }
  void record(const core::v1::ObjectReference& object, std::string_view type,
              std::string_view reason, std::string_view message);

  /// Waits until all events are sent or given up. Returns false if that takes longer than `limit`.
  [[nodiscard]] bool flush(Clock::Duration limit);

 private:
  class Writer;

  const EventRecorderOptions options_;
  const std::shared_ptr<Writer> writer_;
};

}  // namespace kube
