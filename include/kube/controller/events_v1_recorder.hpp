// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/controller/detail/bounded_queue.hpp>
#include <kube/controller/event_series.hpp>
#include <kube/controller/event_sink.hpp>
#include <kube/controller/identity.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kube {

struct EventsV1RecorderOptions {
  std::string controller{};        ///< who reports
  std::string host = host_name();  ///< from where
  std::size_t queue_size = 1000;   ///< how many events may wait to be sent
  std::size_t writers = 8;         ///< how many threads send them
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
/// Thread safety: all methods, from any thread. The destructor drops what has not been sent.
class EventsV1Recorder {
 public:
  EventsV1Recorder(std::shared_ptr<EventsV1Sink> sink, EventsV1RecorderOptions options);

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
  void run_writer(std::stop_token stop);
  void run_sweeper(std::stop_token stop);
  /// Enqueues what is known of series: of those that have ended, and of those that go on.
  void write_series(bool ended, bool running);
  void send(const events::v1::Event& event, std::stop_token stop);
  void enqueue(events::v1::Event event);

  const std::shared_ptr<EventsV1Sink> sink_;
  const EventsV1RecorderOptions options_;
  const std::string instance_;
  const Logger log_;
  Clock& clock_;
  std::mutex mutex_;
  EventSeriesTracker tracker_;  // guarded by mutex_
  detail::BoundedQueue<events::v1::Event> queue_;
  std::vector<std::jthread> threads_;  // the last member: they use the others
};

}  // namespace kube
