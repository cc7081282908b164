// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client.hpp>
#include <kube/controller/event_sink.hpp>

#include <stop_token>
#include <string>
#include <utility>

namespace kube {

/// Sends events to an API server. `Event` is core::v1::Event or events::v1::Event.
template <typename Event>
class ClientEventSink final : public EventSinkFor<Event> {
 public:
  explicit ClientEventSink(Client client) : client_(std::move(client)) {}

  Event create(const Event& event, std::stop_token stop) override {
    return *events_of(event).create(event, {}, std::move(stop));
  }
  Event patch(const Event& event, const std::string& patch, std::stop_token stop) override {
    return *events_of(event).patch(event.metadata.name, PatchType::kStrategicMerge, patch, {}, {},
                                   std::move(stop));
  }

 private:
  [[nodiscard]] const Client* client() const noexcept override { return &client_; }
  [[nodiscard]] Resource<Event> events_of(const Event& event) const {
    return client_.resource<Event>(event.metadata.namespace_.view());
  }

  const Client client_;
};

}  // namespace kube
