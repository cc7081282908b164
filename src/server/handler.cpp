// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <fmt/format.h>

#include <utility>

#include "gate.hpp"

namespace kube::server {

Responder::~Responder() {
  if (gate_) gate_->fail(exchange_);
}

void Responder::operator()(Reply reply) noexcept {
  if (const auto gate = std::exchange(gate_, nullptr)) gate->answer(exchange_, std::move(reply));
}

Reply Handler::refuse(Refusal why, const Limits& limits) const {
  return plain_refusal(why, limits);
}

Reply plain_refusal(Refusal why, const Limits& limits) {
  switch (why) {
    case Refusal::kMalformed:
      break;
    case Refusal::kVersion:
      return text_reply(505, "this version of HTTP is not supported\n");
    case Refusal::kLargeHead:
      return text_reply(431, fmt::format("the head of the request has more than {} bytes or {} "
                                         "fields\n",
                                         limits.max_head, limits.max_headers));
    case Refusal::kLargeBody:
      return text_reply(
          413, fmt::format("the body of the request has more than {} bytes\n", limits.max_body));
    case Refusal::kSlowHead:
    case Refusal::kSlowBody:
      return text_reply(408, "the request did not arrive in time\n");
    case Refusal::kSlowAnswer:
      return text_reply(503, "the answer was not ready in time\n");
    case Refusal::kCrowded:
      return text_reply(503, "too many connections; try again later\n");
    case Refusal::kReplaced:
      return text_reply(503, "too many connections; the oldest was closed\n");
    case Refusal::kFailed:
      return text_reply(500, "internal server error\n");
  }
  return text_reply(400, "malformed HTTP request\n");
}

}  // namespace kube::server
