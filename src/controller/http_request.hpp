// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/controller/health.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kube::detail {

/// What a request asks for, as views into its text.
struct HttpQuestion {
  std::string_view path;
  std::string_view query;
  bool head_only = false;  ///< HEAD
};

/// Reads a request from its first line; the rest of the head does not matter here. What cannot be answered is the
/// reply to send. `head_only` is set when its body must not be sent.
struct HttpRefusal {
  HttpReply reply;
  bool head_only = false;
};
[[nodiscard]] std::variant<HttpQuestion, HttpRefusal> parse_request(std::string_view head);

/// Names and values of a query, with '+' and, where it is sound, %XX resolved.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

/// An answer as it is sent, after which the connection is closed.
[[nodiscard]] std::string encode_reply(const HttpReply& reply, bool head_only);

/// "127.0.0.1:8080", "[::1]:8080" or ":8080", taken apart; the host is empty for all addresses. Throws kube::Error
/// that names the address, what is wrong with it and what one looks like.
struct ListenAddress {
  std::string host;
  std::string port;
};
[[nodiscard]] ListenAddress parse_listen_address(const std::string& address);

}  // namespace kube::detail
