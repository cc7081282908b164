// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/controller/event_series.hpp>
#include <kube/controller/event_sink.hpp>
#include <kube/controller/identity.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube {

/// Settings of an EventsV1Recorder.
struct EventsV1RecorderOptions {
  std::string controller{};        ///< reporting controller
  std::string host = host_name();  ///< host that reports
  std::size_t queue_size = 1000;   ///< maximum number of events waiting to be sent
  std::size_t writers = 8;         ///< maximum number of concurrent requests
  /// Times of events and pauses between retries. Must outlive the recorder.
  Clock* clock = &system_clock();
  /// The source of jitter.
  Random random = system_random();
  /// Receives a line for each event that is dropped.
  Logger log = stderr_logger();
};

/// The content of an events.k8s.io/v1 event.
struct EventNote {
  std::string_view type = "Normal";  ///< or "Warning"
  std::string_view reason{};         ///< why, in CamelCase; at most 128 characters
  std::string_view action{};  ///< what was done or failed, in CamelCase; at most 128 characters
  std::string_view note{};    ///< human-readable; truncated to 1024 bytes
};

/// Like EventRecorder, but records events.k8s.io/v1 events, which form series.
/// Thread safety: all methods, from any thread. The destructor drops unsent events, and waits until
/// the sink has returned.
class EventsV1Recorder {
 public:
  /// Throws as the constructor of Runtime.
  EventsV1Recorder(std::shared_ptr<EventsV1Sink> sink, EventsV1RecorderOptions options);
  EventsV1Recorder(const EventsV1Recorder&) = delete;
  EventsV1Recorder& operator=(const EventsV1Recorder&) = delete;
  ~EventsV1Recorder();

  /// Records an event. Drops and logs one that a server would reject: another type, no reason or
  /// action, or ones that are too long.
  void record(const core::v1::ObjectReference& regarding, const EventNote& note,
              const core::v1::ObjectReference* related = nullptr);
  template <typename T>
  void record(const T& regarding, const EventNote& note,
              const core::v1::ObjectReference* related = nullptr) {
    record(reference_to(regarding), note, related);
  }

  /// Waits until all events are sent or given up. Returns false if that takes longer than `limit`.
  [[nodiscard]] bool flush(Clock::Duration limit);

 private:
  class Writer;

  const EventsV1RecorderOptions options_;
  const std::string instance_;
  const std::shared_ptr<Writer> writer_;
};

}  // namespace kube
