// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/object_operation.hpp"
#include "engine/blocking_call.hpp"
#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/event_sink.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kube::detail {

/// One call of a sink: creates an event, or patches one. A sink that a user wrote blocks, so a
/// worker calls it; with a client, the request is sent without a waiting thread. See
/// engine/polling.hpp.
template <typename Event>
class EventCall {
 public:
  using Sink = EventSinkFor<Event>;

  /// Creates `event` if there is no patch. `client` is that of the sink, or null.
  EventCall(const std::shared_ptr<Sink>& sink, const Client* client, const Event& event,
            const std::string& patch, const Poller& poller)
      : event_(event), poller_(poller) {
    if (client == nullptr) {
      call_.emplace(poller, "EventSink", [sink, event, patch](std::stop_token stop) {
        return patch.empty() ? sink->create(event, std::move(stop))
                             : sink->patch(event, patch, std::move(stop));
      });
      return;
    }
    const Resource<Event> events = client->resource<Event>(event_.metadata.namespace_.view());
    const ResourceCore& core = Inside::core(events);
    request_ =
        core.start(patch.empty() ? core.create(Sendable::of(event_), {}, {}, &type_of<Event>(), {})
                                 : core.patch(event_.metadata.name.view(),
                                              PatchType::kStrategicMerge, patch, {}, {}));
  }
  EventCall(const EventCall&) = delete;
  EventCall& operator=(const EventCall&) = delete;

  /// Returns the event as stored; nothing while it is pending. Throws the exceptions of the sink.
  [[nodiscard]] std::optional<Event> poll() {
    if (call_) return call_->poll();
    if (request_->poll(poller_) != Poll::kReady) return std::nullopt;
    return *cast<Event>(request_->take());
  }
  /// Measured by the client's clock.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept {
    return request_ ? request_->wake_at() : Clock::TimePoint::max();
  }
  /// Ends it soon. Returns false if it may be destroyed immediately; otherwise user code is being
  /// called until poll() has a result.
  [[nodiscard]] bool cancel() noexcept {
    if (call_) call_->cancel();
    return call_.has_value();
  }

 private:
  const Event event_;  // the event to send
  const Poller poller_;
  std::optional<BlockingCall<Event>> call_;
  std::unique_ptr<ObjectOperation> request_;
};

}  // namespace kube::detail
