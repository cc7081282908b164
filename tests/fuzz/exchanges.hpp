// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../../src/transport/session.hpp"
#include "fuzz.hpp"

namespace kube::fuzz {

inline const detail::SessionSettings& session_settings() {
  static const detail::SessionSettings settings{.scheme = "https",
                                                .authority = "api.example",
                                                .path_prefix = {},
                                                .max_header_bytes = 2000,
                                                .stream_buffer_bytes = 10'000};
  return settings;
}

inline std::shared_ptr<detail::Exchange> make_exchange(HttpRequest request) {
  static const auto mailbox = std::make_shared<detail::Mailbox>();
  static const auto material = std::make_shared<const TlsMaterial>();
  return std::make_shared<detail::Exchange>(std::move(request), material, mailbox,
                                            session_settings().stream_buffer_bytes);
}

/// Feeds the peer's bytes and sends all pending output, until the session fails.
inline void drive(detail::Session& session, std::string_view bytes) {
  session.receive(bytes);
  while (!session.output().empty()) session.sent(session.output().size());
}

inline void require_printable(const std::string& text) {
  require(std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }),
          "messages have no control characters");
}

/// Formats the outcome of a completed exchange: status, number of headers, body, and the kind of
/// failure.
inline std::string result_of(detail::Exchange& exchange) {
  std::string result =
      exchange.failure() ? std::to_string(static_cast<int>(*exchange.failure())) + " " : "whole ";
  try {
    const HttpResponseHead& head = exchange.wait_head();
    result += std::to_string(head.status) + " " + std::to_string(head.headers.size()) + " ";
    for (const Header& header : head.headers) {
      require_printable(header.name);
      require(header.value.find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos,
              "values are lines");
    }
    std::string bytes;
    do {
      exchange.take(bytes);
      result += bytes;
    } while (!bytes.empty());
  } catch (const TransportError& error) {
    require_printable(error.what());
  }
  return result;
}

}  // namespace kube::fuzz
