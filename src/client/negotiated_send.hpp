// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request.hpp"
#include "rest_client.hpp"
#include "send_operation.hpp"

#include "engine/polling.hpp"
#include "transport/polled_stream.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/codec/format.hpp>

#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

/// Whether a response holds one object or many.
enum class Many : bool { kNo, kYes };

/// A successful response.
struct Answer {
  std::unique_ptr<PolledStream> stream;  ///< null only for a watch: see RestClient::send()
  Format format = Format::kJson;
};

/// The objects of a request and of its response.
struct Payload {
  const Sendable* body = nullptr;  ///< null if there is none
  const Type* wanted = nullptr;
  Many many = Many::kNo;
};

/// Sends a request in the format that the server prefers, and again as JSON if it does not support
/// protobuf. See engine/polling.hpp.
class NegotiatedSend {
 public:
  /// All references must outlive it. Completes `request`.
  NegotiatedSend(RestClient& rest, const ResourceTarget& target, Request& request, Payload payload,
                 Poller poller);

  /// Throws like RestClient::send().
  [[nodiscard]] Poll poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return sending_->wake_at(); }
  /// Returns the response, once ready.
  [[nodiscard]] Answer take() noexcept { return std::move(answer_); }
  [[nodiscard]] TransportError canceled() const { return sending_->canceled(); }

 private:
  void begin();
  /// Returns whether the error means that the server does not support protobuf.
  [[nodiscard]] bool can_fall_back(const ApiError& error) const;
  void accept(std::unique_ptr<PolledStream> stream);

  RestClient& rest_;
  const ResourceTarget& target_;
  Request& request_;
  const Payload payload_;
  const Poller poller_;
  const std::string group_version_;
  const bool accept_is_given_;
  Negotiated wire_;
  std::optional<SendOperation> sending_;
  Answer answer_;
};

}  // namespace kube::detail
