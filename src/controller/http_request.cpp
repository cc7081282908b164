// SPDX-License-Identifier: Apache-2.0
#include "http_request.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>
#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace kube::detail {
namespace {

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

bool is_visible(char c) { return c > ' ' && c <= '~'; }

[[noreturn]] void fail(const std::string& address, std::string_view problem) {
  throw Error(fmt::format(
      "cannot listen on {}: {}; write <host>:<port>, for example 127.0.0.1:8080, [::1]:8080 or "
      ":8080 for all addresses",
      quoted(address), problem));
}

}  // namespace

std::variant<HttpQuestion, HttpRefusal> parse_request(std::string_view head) {
  const auto refuse = [](int status, const char* why, bool head_only = false) {
    return HttpRefusal{{.status = status, .body = why}, head_only};
  };
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || line.find(' ', first + 1) != last) {
    return refuse(400, "malformed HTTP request\n");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are supported\n");
  }
  const bool head_only = method == "HEAD";
  if (method != "GET" && !head_only) return refuse(405, "only GET and HEAD are supported\n");
  if (target.empty() || target.front() != '/') {
    return refuse(400, "the target must be a path\n", head_only);
  }
  if (!std::ranges::all_of(target, is_visible)) {
    return refuse(400, "the target contains control characters or bytes above 127\n", head_only);
  }
  const std::size_t mark = target.find('?');
  return HttpQuestion{target.substr(0, mark),
                      mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1),
                      head_only};
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> found;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = one.find('=');
    if (one.empty()) continue;
    const auto decoded = [](std::string_view text) {
      if (auto sound = percent_decode(text, true)) return *std::move(sound);
      std::string as_it_is{text};
      std::ranges::replace(as_it_is, '+', ' ');
      return as_it_is;
    };
    found.emplace_back(decoded(one.substr(0, equals)),
                       equals == std::string_view::npos ? "" : decoded(one.substr(equals + 1)));
  }
  return found;
}

std::string encode_reply(const HttpReply& reply, bool head_only) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\n{}\r\n",
      reply.status, status_text(reply.status), reply.content_type, reply.body.size(),
      reply.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (!head_only) text += reply.body;
  return text;
}

ListenAddress parse_listen_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) fail(address, "the port is missing");
  ListenAddress parsed{address.substr(0, colon), address.substr(colon + 1)};
  std::string& host = parsed.host;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    fail(address, "an IPv6 address must be in brackets");
  }
  // Parsed strictly: getaddrinfo() would turn other texts into a different port.
  std::uint16_t port = 0;
  const char* const end = parsed.port.data() + parsed.port.size();
  const auto [stopped, problem] = std::from_chars(parsed.port.data(), end, port);
  if (problem != std::errc{} || stopped != end || parsed.port.size() > 5) {
    fail(address, "the port is not a number from 0 to 65535");
  }
  return parsed;
}

}  // namespace kube::detail
