// SPDX-License-Identifier: Apache-2.0
#include "url.hpp"

#include "base/text.hpp"
#include <kube/transport/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ip_address.hpp"

namespace kube::detail {

namespace {

int usual_port(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return 1080;  // SOCKS
}

/// Whitespace and control characters, which are not allowed in a URL.
bool is_blank(unsigned char letter) { return letter <= ' ' || letter == 0x7f; }

bool is_name_letter(unsigned char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
}

}  // namespace

Url parse_url(std::string_view text, std::string_view usual_scheme, std::string_view what) {
  const auto refuse = [what](std::string_view why) {
    throw TransportError(TransportError::Kind::kProtocol,
                         fmt::format("{} is not a URL: {}", what, why));
  };
  const auto decode = [&](std::string_view part) {
    std::optional<std::string> decoded = percent_decode(part, false);
    if (!decoded) refuse("a % in it is not followed by two digits");
    return *decoded;
  };
  if (std::ranges::any_of(text, is_blank)) {
    refuse("there are blanks or line breaks in it");
  }
  Url url;
  const auto colon = text.find("://");
  url.scheme = lower_case(colon == std::string_view::npos ? usual_scheme : text.substr(0, colon));
  if (colon != std::string_view::npos) text.remove_prefix(colon + 3);

  std::string_view place = text.substr(0, text.find_first_of("/?#"));
  text.remove_prefix(place.size());
  url.path = text.substr(0, text.find_first_of("?#"));

  if (const auto at = place.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = place.substr(0, at);
    const auto end = std::min(who.find(':'), who.size());
    url.user = decode(who.substr(0, end));
    url.password = decode(who.substr(std::min(end + 1, who.size())));
    place.remove_prefix(at + 1);
  }

  if (place.starts_with('[')) {
    const auto end = place.find(']');
    if (end == std::string_view::npos) refuse("the bracket before the host is not closed");
    url.host = decode(place.substr(1, end - 1));
    if (std::ranges::any_of(url.host, is_blank)) refuse("there are blanks or line breaks in it");
    if (url.host.find(':') == std::string::npos || !parse_ip_address(url.host)) {
      refuse("the text in brackets is not an IPv6 address");
    }
    place.remove_prefix(end + 1);
    if (!place.empty() && place.front() != ':') refuse("something follows the brackets");
  } else {
    url.host = place.substr(0, place.find(':'));
    if (url.host.empty()) refuse("there is no host in it");
    if (!std::ranges::all_of(url.host, is_name_letter)) {
      refuse("the host has characters that no name may have");
    }
    place.remove_prefix(url.host.size());
  }

  url.port = usual_port(url.scheme);
  if (place.size() > 1) {
    const char* const end = place.data() + place.size();
    const auto parsed = std::from_chars(place.data() + 1, end, url.port);
    if (parsed.ec != std::errc{} || parsed.ptr != end || url.port < 1 || url.port > 65535) {
      refuse("the port is not a number from 1 to 65535");
    }
  }
  return url;
}

}  // namespace kube::detail
