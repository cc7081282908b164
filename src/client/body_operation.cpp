// SPDX-License-Identifier: Apache-2.0
#include "body_operation.hpp"

#include "answer.hpp"
#include "rest_client.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace kube::detail {

BodyOperation::BodyOperation(const RestClient& rest, const Request& request, PolledStream& stream,
                             Poller poller)
    : rest_(rest),
      request_(request),
      stream_(stream),
      poller_(std::move(poller)),
      body_(rest.options().max_body),
      account_(rest.account(request)) {}

TransportError BodyOperation::canceled() const {
  return {TransportError::Kind::kCanceled, rest_.describe(request_) + ": canceled"};
}

Poll BodyOperation::poll() {
  try {
    for (;;) {
      account_.hold(body_.size());
      if (!admission_.poll(body_.size(), poller_)) return Poll::kPending;
      const std::optional<std::string_view> chunk = stream_.poll_read();
      if (!chunk) return Poll::kPending;
      if (!body_.add(*chunk)) break;
    }
  } catch (const TransportError& error) {
    throw rest_.in_context(request_, error);
  }
  if (body_.is_complete()) return Poll::kReady;
  throw unexpected_answer(
      request_, stream_.head(),
      fmt::format("the answer is longer than {} bytes (ClientOptions::max_body)",
                  rest_.options().max_body));
}

}  // namespace kube::detail
