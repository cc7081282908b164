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

struct EventsV1RecorderOptions {
  std::string controller{};        ///< who reports
  std::string host = host_name();  ///< from where
  std::size_t queue_size = 1000;   ///< how many events may wait to be sent
  std::size_t writers = 8;         ///< how many are sent at once
  Clock* clock = &system_clock();
  Random random = system_random();
  Logger log = stderr_logger();
};

/// What happened, for a record of the kind events.k8s.io/v1.
struct EventNote {
  std::string_view type = "Normal";  ///< or "Warning"
  std::string_view reason{};         ///< why, in CamelCase; at most 128 characters
  std::string_view action{};  ///< what was done or failed, in CamelCase; at most 128 characters
  std::string_view note{};    ///< for people; cut at 1024 bytes
};

/// As EventRecorder, but for the new kind of events, events.k8s.io/v1, which come in series.
/// Thread safety: all methods, from any thread. The destructor drops what has not been sent, and waits until the sink has
/// returned.
class EventsV1Recorder {
 public:
  /// Throws as the constructor of Runtime.
  EventsV1Recorder(std::shared_ptr<EventsV1Sink> sink, EventsV1RecorderOptions options);
  EventsV1Recorder(const EventsV1Recorder&) = delete;
  EventsV1Recorder& operator=(const EventsV1Recorder&) = delete;
  ~EventsV1Recorder();

  /// Drops and logs what a server would refuse: another type, no reason or action, or ones that are too long.
  void record(const core::v1::ObjectReference& regarding, const EventNote& note,
              const core::v1::ObjectReference* related = nullptr);
  template <typename T>
  void record(const T& regarding, const EventNote& note,
              const core::v1::ObjectReference* related = nullptr) {
    record(reference_to(regarding), note, related);
  }

  /// Waits until all events are sent or given up; false if they are not after `limit`.
  [[nodiscard]] bool flush(Clock::Duration limit);

 private:
  class Writer;

  const EventsV1RecorderOptions options_;
  const std::string instance_;
  const std::shared_ptr<Writer> writer_;
};

}  // namespace kube
