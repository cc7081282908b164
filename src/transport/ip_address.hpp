// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kube::detail {

/// An address of either family, as the 16 bytes of IPv6.
struct IpAddress {
  std::array<unsigned char, 16> bytes{};
  bool v4 = false;

  /// As many bytes as its family has.
  [[nodiscard]] std::span<const unsigned char> own_bytes() const noexcept {
    return std::span{bytes}.subspan(v4 ? 12 : 0);
  }
};

/// Nothing if the text is a name. IPv6 may stand in brackets; a zone ("%eth0") is left out.
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);

/// As it stands before a port: IPv6 in brackets, and without a zone, which means nothing to others.
[[nodiscard]] std::string bracketed(std::string_view host);

}  // namespace kube::detail
