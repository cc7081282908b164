// SPDX-License-Identifier: Apache-2.0
#include "base/url.hpp"

#include "base/ip_address.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kube::detail {

namespace {

int default_port(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return 1080;  // SOCKS
}

/// Letters, digits and the marks of a DNS name.
bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

/// Whitespace and control characters, which are not allowed in a URL.
bool is_blank(unsigned char letter) { return letter <= ' ' || letter == 0x7f; }

void refuse_blanks(std::string_view text) {
  if (std::ranges::any_of(text, is_blank)) throw UrlError("there are blanks or line breaks in it");
}

std::string decoded(std::string_view part) {
  std::optional<std::string> text = percent_decode(part, false);
  if (!text) throw UrlError("a % in it is not followed by two digits");
  return *std::move(text);
}

/// Parses the host of an authority, which is in brackets if it is an IPv6 address.
std::string parse_host(const HostAndPort& place, bool in_brackets) {
  if (in_brackets) {
    std::string host = decoded(place.host);
    refuse_blanks(host);
    if (host.find(':') == std::string::npos || !parse_ip_address(host)) {
      throw UrlError("the text in brackets is not an IPv6 address");
    }
    return host;
  }
  if (place.host.empty()) throw UrlError("there is no host in it");
  if (place.host.find(':') != std::string_view::npos) {
    throw UrlError("an IPv6 address must be in brackets");
  }
  if (!std::ranges::all_of(place.host, is_name_letter)) {
    throw UrlError("the host has characters that no name may have");
  }
  return std::string{place.host};
}

int parse_port(std::string_view text) {
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || port < 1 || port > 65535) {
    throw UrlError("the port is not a number from 1 to 65535");
  }
  return port;
}

}  // namespace

UrlParts split_url(std::string_view text) noexcept {
  constexpr std::string_view kSeparator = "://";
  UrlParts parts;
  const std::size_t separator = text.find(kSeparator);
  if (separator != std::string_view::npos && text.find_first_of("/?#") == separator + 1) {
    parts.scheme = text.substr(0, separator);
    text.remove_prefix(separator + kSeparator.size());
  }
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t question = text.find('?'); question != std::string_view::npos) {
    parts.query = text.substr(question + 1);
    text = text.substr(0, question);
  }
  parts.authority = text.substr(0, text.find('/'));
  parts.path = text.substr(parts.authority.size());
  if (const std::size_t at = parts.authority.rfind('@'); at != std::string_view::npos) {
    parts.user_info = parts.authority.substr(0, at);
    parts.authority.remove_prefix(at + 1);
  }
  return parts;
}

std::optional<HostAndPort> split_authority(std::string_view authority) noexcept {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    HostAndPort parts{.host = authority.substr(1, end - 1), .port = std::nullopt};
    authority.remove_prefix(end + 1);
    if (authority.empty()) return parts;
    if (authority.front() != ':') return std::nullopt;
    parts.port = authority.substr(1);
    return parts;
  }
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos || authority.find(':', colon + 1) != std::string_view::npos) {
    return HostAndPort{.host = authority, .port = std::nullopt};
  }
  return HostAndPort{.host = authority.substr(0, colon), .port = authority.substr(colon + 1)};
}

std::string Url::host_and_port() const { return fmt::format("{}:{}", bracketed(host), port); }

std::string Url::host_header() const {
  return port == default_port(scheme) ? bracketed(host) : host_and_port();
}

bool Url::is_loopback() const {
  if (equals_ignoring_case(host, "localhost")) return true;
  const std::optional<IpAddress> address = parse_ip_address(host);
  return address && address->is_loopback();
}

Url parse_url(std::string_view text, std::string_view default_scheme) {
  refuse_blanks(text);
  const UrlParts parts = split_url(text);
  Url url;
  url.scheme = lower_case(parts.scheme.value_or(default_scheme));
  url.authority = parts.authority;
  url.path = parts.path;
  if (parts.user_info) {
    const std::string_view who = *parts.user_info;
    const std::size_t end = std::min(who.find(':'), who.size());
    url.user = decoded(who.substr(0, end));
    url.password = decoded(who.substr(std::min(end + 1, who.size())));
  }
  const std::optional<HostAndPort> place = split_authority(parts.authority);
  if (!place) throw UrlError("a bracket is not closed, or is not followed by a port");
  url.host = parse_host(*place, parts.authority.starts_with('['));
  const std::string_view port = place->port.value_or(std::string_view{});
  url.port = port.empty() ? default_port(url.scheme) : parse_port(port);
  return url;
}

std::string redacted_url(std::string_view url) {
  const std::optional<std::string_view> secret = split_url(url).user_info;
  if (!secret) return std::string{url};
  const auto begin = static_cast<std::size_t>(secret->data() - url.data());
  return fmt::format("{}{}:[redacted]{}", url.substr(0, begin),
                     secret->substr(0, secret->find(':')), url.substr(begin + secret->size()));
}

Query::Query(std::string_view encoded) {
  while (!encoded.empty()) {
    const std::string_view pair = encoded.substr(0, encoded.find('&'));
    encoded.remove_prefix(std::min(encoded.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(pair.substr(0, equals), true);
    auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (name && value) values_.emplace_back(*std::move(name), *std::move(value));
  }
}

std::string_view Query::text(std::string_view name) const noexcept {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::has(std::string_view name) const noexcept {
  return std::ranges::any_of(values_, [&](const auto& pair) { return pair.first == name; });
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

bool Query::flag(std::string_view name) const noexcept {
  if (!has(name)) return false;
  const std::string_view value = text(name);
  return value != "0" && !equals_ignoring_case(value, "false");
}

std::string Query::str() const {
  Parameters sorted = values_;
  std::ranges::stable_sort(sorted, {}, &Parameters::value_type::first);
  std::string text;
  for (const auto& [name, value] : sorted) {
    text += text.empty() ? '?' : '&';
    text += percent_encode(name) + '=' + percent_encode(value);
  }
  return text;
}

}  // namespace kube::detail
