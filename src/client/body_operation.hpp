// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "admission.hpp"
#include "body_reader.hpp"
#include "request.hpp"

#include "engine/polling.hpp"
#include "transport/polled_stream.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>

#include <string>

namespace kube::detail {

class RestClient;

/// Reads the whole body of a response. See RestClient::read_body() and engine/polling.hpp.
class BodyOperation {
 public:
  /// All references must outlive it.
  BodyOperation(const RestClient& rest, const Request& request, PolledStream& stream,
                Poller poller);

  /// Throws like RestClient::read_body().
  [[nodiscard]] Poll poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return admission_.wake_at(); }
  /// Returns the body, once ready.
  [[nodiscard]] std::string take() { return body_.take(); }
  [[nodiscard]] TransportError canceled() const;

 private:
  const RestClient& rest_;
  const Request& request_;
  PolledStream& stream_;
  const Poller poller_;
  BodyReader body_;
  ByteAccount account_;
  Admission admission_{account_};
};

}  // namespace kube::detail
