// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/controller/health.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kube::detail {

/// The target of a request, as views into its text.
struct HttpQuestion {
  std::string_view path;
  std::string_view query;
  bool head_only = false;  ///< the method is HEAD
};

/// Parses a request by its first line; the other headers are irrelevant here. For a request that
/// cannot be answered, returns the reply to send. `head_only` is set when its body must not be
/// sent.
struct HttpRefusal {
  HttpReply reply;
  bool head_only = false;
};
[[nodiscard]] std::variant<HttpQuestion, HttpRefusal> parse_request(std::string_view head);

/// Parses a query into names and values, decoding '+' and valid %XX sequences.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

/// Returns the response as it is sent, after which the connection is closed.
[[nodiscard]] std::string encode_reply(const HttpReply& reply, bool head_only);

/// The parts of "127.0.0.1:8080", "[::1]:8080" or ":8080"; the host is empty for all addresses.
/// Throws kube::Error that names the address, the problem and an example.
struct ListenAddress {
  std::string host;
  std::string port;
};
[[nodiscard]] ListenAddress parse_listen_address(const std::string& address);

}  // namespace kube::detail
