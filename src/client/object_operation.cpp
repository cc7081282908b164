// SPDX-License-Identifier: Apache-2.0
#include "object_operation.hpp"

#include <utility>

namespace kube::detail {

std::unique_ptr<ObjectOperation> ObjectOperation::get(const ResourceCore& resource,
                                                      std::string_view name, Poller poller) {
  require_name(name);
  return std::make_unique<ObjectOperation>(resource, resource.request("GET", name, {}),
                                           std::nullopt, std::move(poller));
}

std::unique_ptr<ObjectOperation> ObjectOperation::create(const ResourceCore& resource,
                                                         Sendable object, Poller poller) {
  return std::make_unique<ObjectOperation>(resource, resource.request("POST", {}, {}), object,
                                           std::move(poller));
}

std::unique_ptr<ObjectOperation> ObjectOperation::update(const ResourceCore& resource,
                                                         Sendable object, std::string_view name,
                                                         Poller poller) {
  require_name(name);
  return std::make_unique<ObjectOperation>(resource, resource.request("PUT", name, {}), object,
                                           std::move(poller));
}

std::unique_ptr<ObjectOperation> ObjectOperation::patch(const ResourceCore& resource,
                                                        PatchType type, std::string patch,
                                                        std::string_view name, Poller poller) {
  require_name(name);
  Request request = resource.request("PATCH", name, {});
  request.content_type = media_type_of(type);
  request.body = std::move(patch);
  return std::make_unique<ObjectOperation>(resource, std::move(request), std::nullopt,
                                           std::move(poller));
}

ObjectOperation::ObjectOperation(ResourceCore resource, Request request,
                                 std::optional<Sendable> body, Poller poller)
    : resource_(std::move(resource)),
      request_(std::move(request)),
      body_(body),
      poller_(std::move(poller)) {
  sending_.emplace(*resource_.rest_, resource_.target_, request_,
                   Payload{.body = body_ ? &*body_ : nullptr, .wanted = resource_.target_.type},
                   poller_);
}

TransportError ObjectOperation::canceled() const {
  if (sending_) return sending_->canceled();
  return {TransportError::Kind::kCanceled, resource_.rest_->describe(request_) + ": canceled"};
}

Clock::TimePoint ObjectOperation::wake_at() const noexcept {
  if (sending_) return sending_->wake_at();
  return reading_ ? reading_->wake_at() : Clock::TimePoint::max();
}

Poll ObjectOperation::poll() {
  if (sending_) {
    if (const Poll result = sending_->poll(); result != Poll::kReady) return result;
    answer_ = sending_->take();
    sending_.reset();
    reading_.emplace(*resource_.rest_, request_, *answer_.stream, poller_);
  }
  if (reading_) {
    if (const Poll result = reading_->poll(); result != Poll::kReady) return result;
    object_ = resource_.decode_body(request_, answer_, reading_->take(),
                                    resource_.wire_type(*resource_.target_.type));
    reading_.reset();
  }
  return Poll::kReady;
}

}  // namespace kube::detail
