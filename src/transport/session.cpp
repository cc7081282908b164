// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>

namespace kube::detail {

Headers headers_to_send(const HttpRequest& request, const SessionSettings& settings) {
  constexpr std::array kOfTheConnection = {"connection", "keep-alive",        "proxy-connection",
                                           "upgrade",    "transfer-encoding", "host",
                                           "te",         "content-length"};
  Headers headers;
  headers.reserve(request.headers.size() + 2);
  for (const Header& header : request.headers) {
    if (std::ranges::none_of(kOfTheConnection, [&](const char* name) {
          return ::strcasecmp(name, header.name.c_str()) == 0;
        })) {
      headers.push_back(header);
    }
  }
  if (settings.ask_for_gzip && find_header(headers, "Accept-Encoding") == nullptr) {
    headers.push_back({.name = "Accept-Encoding", .value = "gzip"});
  }
  const bool sends = !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
                     request.method == "PATCH";
  if (sends) {
    headers.push_back({.name = "Content-Length", .value = std::to_string(request.body.size())});
  }
  return headers;
}

TransportError headers_too_large(const SessionSettings& settings) {
  return {TransportError::Kind::kProtocol,
          fmt::format("{}: the head of the answer is larger than {} bytes; is this an API server?",
                      settings.authority, settings.max_header_bytes)};
}

}  // namespace kube::detail
