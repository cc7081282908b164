// SPDX-License-Identifier: Apache-2.0
#include "watch_operation.hpp"

#include "rest_client.hpp"

#include <utility>

namespace kube::detail {

WatchOperation::Opening::Opening(ResourceCore of, Request asked, Poller by)
    : resource(std::move(of)),
      request(std::move(asked)),
      poller(std::move(by)),
      sending(*resource.rest(), resource.target(), request,
              Payload{.wanted = resource.target().type}, poller) {}

WatchOperation::WatchOperation(ResourceCore resource, Request request, Poller poller)
    : opening_(
          std::make_unique<Opening>(std::move(resource), std::move(request), std::move(poller))) {}

Poll WatchOperation::poll_open() {
  if (watch_) return Poll::kReady;
  if (opening_->sending.poll() == Poll::kPending) return Poll::kPending;
  Answer answer = opening_->sending.take();
  const ResourceCore& resource = opening_->resource;
  const RestClient& rest = *resource.rest();
  watch_ = std::make_unique<WatchOfStream>(std::move(answer.stream), answer.format,
                                           resource.wire_type(*resource.target().type),
                                           resource.decoding(),
                                           WatchContext{.log = rest.options().log.named("watch"),
                                                        .budget = rest.budget(),
                                                        .clock = &rest.clock(),
                                                        .name = rest.describe(opening_->request),
                                                        .poller = opening_->poller});
  opening_.reset();
  return Poll::kReady;
}

Clock::TimePoint WatchOperation::wake_at() const noexcept {
  return watch_ ? watch_->wake_at() : opening_->sending.wake_at();
}

}  // namespace kube::detail
