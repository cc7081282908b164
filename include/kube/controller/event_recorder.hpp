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

struct EventRecorderOptions {
  std::string component{};         ///< who reports
  std::string host = host_name();  ///< from where
  std::size_t queue_size = 1000;   ///< how many events may wait to be sent
  EventCorrelatorOptions correlation{};
  Clock* clock = &system_clock();
  Random random = system_random();
  Logger log = stderr_logger();
};

/// Tells users what happens to their objects: `kubectl describe` shows events. These are of the old kind, core/v1.
///
/// Recording never waits. The events are sent in the threads of the client that the sink belongs to (a sink without one
/// shares a Runtime with others), and again for two minutes when there is no answer; when too many are waiting, further
/// ones are dropped and logged. Thread safety: all methods, from any thread. The destructor drops what has not been sent,
/// and waits until the sink has returned; flush() first if events matter.
class EventRecorder {
 public:
  /// Throws as the constructor of Runtime.
  EventRecorder(std::shared_ptr<EventSink> sink, EventRecorderOptions options);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;
  ~EventRecorder();

  /// `type` is "Normal" or "Warning"; anything else is dropped and logged.
  template <typename T>
  void record(const T& object, std::string_view type, std::string_view reason,
              std::string_view message) {
    record(reference_to(object), type, reason, message);
  }
  void record(const core::v1::ObjectReference& object, std::string_view type,
              std::string_view reason, std::string_view message);

  /// Waits until all events are sent or given up; false if they are not after `limit`.
  [[nodiscard]] bool flush(Clock::Duration limit);

 private:
  class Writer;

  const EventRecorderOptions options_;
  const std::shared_ptr<Writer> writer_;
};

}  // namespace kube
