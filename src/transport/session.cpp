// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

}  // namespace

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

TransportError current_failure(const SessionSettings& settings) noexcept {
  try {
    throw;
  } catch (const TransportError& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return settings.out_of_memory;
  } catch (const std::exception& error) {
    try {
      return {Kind::kConnectionLost, fmt::format("{}: {}", settings.authority, error.what())};
    } catch (...) {
      return settings.out_of_memory;
    }
  } catch (...) {
    try {
      return {Kind::kConnectionLost,
              fmt::format("{}: an exception of an unknown type", settings.authority)};
    } catch (...) {
      return settings.out_of_memory;
    }
  }
}

TransportError headers_too_large(const SessionSettings& settings) {
  return {Kind::kProtocol,
          fmt::format("{}: the head of the answer is larger than {} bytes; is this an API server?",
                      settings.authority, settings.max_header_bytes)};
}

TransportError trailers_too_large(const SessionSettings& settings) {
  return {Kind::kProtocol,
          fmt::format("{}: the trailers of the answer are larger than {} bytes; is this an API "
                      "server?",
                      settings.authority, settings.max_header_bytes)};
}

TransportError too_many_informational(const SessionSettings& settings) {
  return {Kind::kProtocol,
          fmt::format("{}: more than {} informational (1xx) answers came instead of an answer; is "
                      "this an API server?",
                      settings.authority, kMaxInformational)};
}

}  // namespace kube::detail
