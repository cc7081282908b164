// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "body_operation.hpp"
#include "negotiated_send.hpp"
#include "request.hpp"

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// A request whose answer is one object of its resource. See ResourceCore::get() and engine/polling.hpp.
class ObjectOperation {
 public:
  // Throw std::invalid_argument if a name cannot be part of a URL. The object that is sent must outlive the operation.
  [[nodiscard]] static std::unique_ptr<ObjectOperation> get(const ResourceCore& resource,
                                                            std::string_view name, Poller poller);
  [[nodiscard]] static std::unique_ptr<ObjectOperation> create(const ResourceCore& resource,
                                                               Sendable object, Poller poller);
  [[nodiscard]] static std::unique_ptr<ObjectOperation> update(const ResourceCore& resource,
                                                               Sendable object,
                                                               std::string_view name,
                                                               Poller poller);
  [[nodiscard]] static std::unique_ptr<ObjectOperation> patch(const ResourceCore& resource,
                                                              PatchType type, std::string patch,
                                                              std::string_view name, Poller poller);

  ObjectOperation(ResourceCore resource, Request request, std::optional<Sendable> body,
                  Poller poller);
  ObjectOperation(const ObjectOperation&) = delete;
  ObjectOperation& operator=(const ObjectOperation&) = delete;

  /// Throws as ResourceCore::get().
  [[nodiscard]] Poll poll();
  /// A time of the client's clock.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// The object, once it is ready.
  [[nodiscard]] const AnyRef& object() const noexcept { return object_; }
  [[nodiscard]] TransportError canceled() const;

 private:
  const ResourceCore resource_;
  Request request_;
  const std::optional<Sendable> body_;
  const Poller poller_;
  std::optional<NegotiatedSend> sending_;  // until the answer has begun
  Answer answer_;
  std::optional<BodyOperation> reading_;
  AnyRef object_;
};

}  // namespace kube::detail
