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

}  // namespace

bool IpAddress::is_loopback() const noexcept {
  if (v4) return bytes[12] == 127;
  return bytes.back() == 1 && std::all_of(bytes.begin(), bytes.end() - 1,
                                          [](unsigned char byte) { return byte == 0; });
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
