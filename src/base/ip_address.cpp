// SPDX-License-Identifier: Apache-2.0
#include "base/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace kube::detail {

namespace {

std::string_view without_zone(std::string_view text) {
  return text.find(':') == std::string_view::npos ? text : text.substr(0, text.find('%'));
}

bool is_zero(std::span<const unsigned char> bytes) {
  return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; });
}

/// True for ::ffff:0:0/96.
bool is_mapped(std::span<const unsigned char, 16> bytes) {
  return is_zero(bytes.first(10)) && bytes[10] == 0xff && bytes[11] == 0xff;
}

}  // namespace

bool IpAddress::is_loopback() const noexcept {
  if (is_mapped(bytes)) return bytes[12] == 127;
  return bytes.back() == 1 && is_zero(std::span{bytes}.first(15));
}

bool IpAddress::is_unspecified() const noexcept {
  return is_zero(std::span{bytes}.subspan(is_mapped(bytes) ? 12 : 0));
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  const std::string copy{without_zone(text)};
  IpAddress address;
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes.data() + 12) == 1) {
    address.bytes[10] = address.bytes[11] = 0xff;
    address.v4 = true;
    return address;
  }
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string bracketed(std::string_view host) {
  const std::string text{without_zone(host)};
  return text.find(':') == std::string::npos ? text : "[" + text + "]";
}

}  // namespace kube::detail
