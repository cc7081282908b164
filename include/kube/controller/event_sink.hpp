// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/events/v1.hpp>

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube {

class Client;  // <kube/client/client.hpp>

namespace detail {
template <typename Event>
class EventWriter;
}

/// The destination of events: an API server, or a list in a test. Both methods return the event as
/// stored. They throw ApiError if the server rejects it, and another kube::Error without an answer.
/// Thread safety: both methods are called by workers, concurrently, and may block.
template <typename Event>
class EventSinkFor {
 public:
  virtual ~EventSinkFor() = default;

  /// Creates the event.
  virtual Event create(const Event& event, std::stop_token stop) = 0;
  /// Applies a strategic merge patch to the event of that name and namespace.
  virtual Event patch(const Event& event, const std::string& patch, std::stop_token stop) = 0;

 private:
  friend class detail::EventWriter<Event>;
  /// Returns the client that sends the events; null for sinks that users write. With a client no
  /// thread blocks.
  [[nodiscard]] virtual const Client* client() const noexcept { return nullptr; }
};

/// The destination of core/v1 events; see EventRecorder.
using EventSink = EventSinkFor<core::v1::Event>;
/// The destination of events.k8s.io/v1 events; see EventsV1Recorder.
using EventsV1Sink = EventSinkFor<events::v1::Event>;

/// Returns the reference to an object that its events contain.
template <typename T>
[[nodiscard]] core::v1::ObjectReference reference_to(const T& object) {
  return {.kind = T::kube_type.name,
          .namespace_ = object.metadata.namespace_,
          .name = object.metadata.name,
          .uid = object.metadata.uid,
          .api_version = T::kube_type.api_version,
          .resource_version = object.metadata.resource_version};
}

namespace detail {
/// Returns whether `type` is "Normal" or "Warning".
[[nodiscard]] bool is_event_type(std::string_view type) noexcept;
/// Returns "<object name>.<nanoseconds since 1970 in hex>", or a UUID if that is not a valid object
/// name.
[[nodiscard]] std::string event_name(std::string_view object_name,
                                     std::chrono::system_clock::time_point now);
}  // namespace detail

}  // namespace kube
