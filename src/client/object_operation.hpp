// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "body_operation.hpp"
#include "negotiated_send.hpp"
#include "request.hpp"

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>

#include <optional>

namespace kube::detail {

/// A request whose response is one object, or is ignored.
struct ObjectRequest {
  Request request = {};
  std::optional<Sendable> body = std::nullopt;
  const Type* wanted = nullptr;  ///< null: only success or failure matters
  bool may_be_missing = false;   ///< not found yields null instead of an error
};

/// Sends an ObjectRequest and decodes the response. See ResourceCore::send() and
/// engine/polling.hpp.
class ObjectOperation {
 public:
  ObjectOperation(ResourceCore resource, ObjectRequest request);
  ObjectOperation(const ObjectOperation&) = delete;
  ObjectOperation& operator=(const ObjectOperation&) = delete;

  /// `poller` must be the same for each call. Throws like ResourceCore::send().
  [[nodiscard]] Poll poll(const Poller& poller);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// Returns the object, once ready.
  [[nodiscard]] AnyRef take() noexcept { return std::move(object_); }
  [[nodiscard]] TransportError canceled() const;
  [[nodiscard]] const ResourceCore& resource() const noexcept { return resource_; }

 private:
  [[nodiscard]] Poll poll_answer(const Poller& poller);
  [[nodiscard]] AnyRef decode(const std::string& body) const;
  void check_success(const std::string& body) const;

  const ResourceCore resource_;
  ObjectRequest request_;
  std::optional<NegotiatedSend> sending_;
  Answer answer_;
  std::optional<BodyOperation> reading_;
  AnyRef object_;
};

}  // namespace kube::detail
