// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kube::detail {

/// An IPv4 or IPv6 address, stored as 16 bytes: IPv4 as the IPv6 address that it is mapped to.
struct IpAddress {
  std::array<unsigned char, 16> bytes{};
  bool v4 = false;

  /// Returns the bytes of its family: 4 or 16.
  [[nodiscard]] std::span<const unsigned char> own_bytes() const noexcept {
    return std::span{bytes}.subspan(v4 ? 12 : 0);
  }
  /// True for 127.0.0.0/8 and ::1, and for IPv4 addresses that are mapped to IPv6.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// True for 0.0.0.0 and ::.
  [[nodiscard]] bool is_unspecified() const noexcept;
};

/// Parses an address; nothing if the text is a name. Accepts IPv6 in brackets and drops a zone
/// ("%eth0").
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);

/// Formats a host for use before a port: IPv6 in brackets and without its zone, which is local to
/// this machine.
[[nodiscard]] std::string bracketed(std::string_view host);

}  // namespace kube::detail
