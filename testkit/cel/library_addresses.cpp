// SPDX-License-Identifier: Apache-2.0
// IP addresses and networks.
#include "testkit/cel/functions.hpp"

#include "testkit/validation/field_error.hpp"

#include <arpa/inet.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace kube::testkit::cel {

namespace {

/// An address in network byte order. IPv4 uses the first four bytes.
struct Address {
  bool is_v4 = true;
  std::array<unsigned char, 16> bytes = {};

  [[nodiscard]] int bits() const { return is_v4 ? 32 : 128; }
  friend bool operator==(const Address&, const Address&) = default;
};

struct IpValue final : Opaque {
  explicit IpValue(const Address& given) : address(given) {}
  [[nodiscard]] TypePtr type() const override { return opaque_type("net.IP"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    return address == static_cast<const IpValue&>(other).address;
  }
  Address address;
};

struct CidrValue final : Opaque {
  CidrValue(const Address& given, int length) : address(given), prefix(length) {}
  [[nodiscard]] TypePtr type() const override { return opaque_type("net.CIDR"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    const auto& cidr = static_cast<const CidrValue&>(other);
    return address == cidr.address && prefix == cidr.prefix;
  }
  Address address;
  int prefix;
};

/// Parses an address, or sets `error` to the reason why the text is not one.
std::optional<Address> read_address(std::string_view text, std::string& why) {
  const auto fail = [&](std::string_view reason) {
    why = fmt::format("ParseAddr({}): {}", detail::quoted_go(text), reason);
    return std::nullopt;
  };
  const std::string plain{text};
  Address address;
  address.is_v4 = text.find(':') == std::string_view::npos;
  if (!address.is_v4 && text.find('%') != std::string_view::npos) {
    why = fmt::format("IP address {} with zone value is not allowed", detail::quoted_go(text));
    return std::nullopt;
  }
  const int family = address.is_v4 ? AF_INET : AF_INET6;
  if (plain.find('\0') == std::string::npos &&
      inet_pton(family, plain.c_str(), address.bytes.data()) == 1) {
    return address;
  }
  if (!address.is_v4 || text.find('.') == std::string_view::npos) return fail("unable to parse IP");
  const auto dots = std::ranges::count(text, '.');
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return fail(fmt::format("unexpected character (at {})",
                            detail::quoted_go(text.substr(text.find_first_not_of("0123456789.")))));
  }
  if (text.starts_with("0") || text.find(".0") != std::string_view::npos) {
    return fail("IPv4 field has octet with leading zero");
  }
  if (dots < 3) return fail("IPv4 address too short");
  if (dots > 3) return fail("IPv4 address too long");
  return fail("IPv4 field has value >255");
}

bool is_mapped(const Address& address) {
  if (address.is_v4) return false;
  for (int i = 0; i < 10; ++i) {
    if (address.bytes[static_cast<std::size_t>(i)] != 0) return false;
  }
  return address.bytes[10] == 0xff && address.bytes[11] == 0xff;
}

/// Parses an address with the rules of ip(), or sets the error.
std::optional<Address> parse_ip(std::string_view text, std::string& error) {
  std::string why;
  auto address = read_address(text, why);
  if (!address) {
    error = why.starts_with("ParseAddr")
                ? fmt::format("IP Address {} parse error during conversion from string: {}",
                              detail::quoted_go(text), why)
                : why;
    return std::nullopt;
  }
  if (is_mapped(*address)) {
    error = fmt::format("IPv4-mapped IPv6 address {} is not allowed", detail::quoted_go(text));
    return std::nullopt;
  }
  return address;
}

std::string address_text(const Address& address) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(address.is_v4 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

constexpr std::string_view kNoNetwork =
    "network address parse error during conversion from string: ";

struct Network {
  Address address;
  int prefix = 0;
};

std::optional<Network> parse_cidr(std::string_view text, std::string& error) {
  const auto fail = [&](std::string_view why) {
    error =
        fmt::format("{0}{0}netip.ParsePrefix({1}): {2}", kNoNetwork, detail::quoted_go(text), why);
    return std::nullopt;
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return fail("no '/'");
  std::string why;
  const auto address = read_address(text.substr(0, slash), why);
  if (!address) return fail(why);
  const std::string_view digits = text.substr(slash + 1);
  int prefix = -1;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (code != std::errc{} || end != digits.data() + digits.size() ||
      (digits.size() > 1 && (digits[0] < '1' || digits[0] > '9'))) {
    return fail(fmt::format("bad bits after slash: {}", detail::quoted_go(digits)));
  }
  if (prefix < 0 || prefix > address->bits()) return fail("prefix length out of range");
  if (is_mapped(*address)) {
    error = fmt::format("{}IPv4-mapped IPv6 address {} is not allowed", kNoNetwork,
                        detail::quoted_go(text));
    return std::nullopt;
  }
  return Network{*address, prefix};
}

Address masked_address(const Address& address, int prefix) {
  Address masked = address;
  for (int bit = prefix; bit < address.bits(); ++bit) {
    masked.bytes[static_cast<std::size_t>(bit / 8)] &=
        static_cast<unsigned char>(~(0x80U >> (bit % 8)));
  }
  return masked;
}

bool has_address(const CidrValue& cidr, const Address& address) {
  return cidr.address.is_v4 == address.is_v4 &&
         masked_address(cidr.address, cidr.prefix) == masked_address(address, cidr.prefix);
}

const Address& address_of(Arguments a, std::size_t i = 0) {
  return static_cast<const IpValue&>(*a[i].get<OpaquePtr>()).address;
}
const CidrValue& cidr_of(Arguments a, std::size_t i = 0) {
  return static_cast<const CidrValue&>(*a[i].get<OpaquePtr>());
}
Val make_ip(const Address& address) { return OpaquePtr{std::make_shared<IpValue>(address)}; }
Val make_cidr(const Address& address, int prefix) {
  return OpaquePtr{std::make_shared<CidrValue>(address, prefix)};
}

Val ip(Meter&, Arguments a) {
  std::string error;
  const auto address = parse_ip(a[0].as_text(), error);
  return address ? make_ip(*address) : Val::error(std::move(error));
}
Val is_ip(Meter&, Arguments a) {
  std::string error;
  return parse_ip(a[0].as_text(), error).has_value();
}
Val is_canonical(Meter&, Arguments a) {
  std::string error;
  const auto address = parse_ip(a[0].as_text(), error);
  return address ? Val{address_text(*address) == a[0].as_text()} : Val::error(std::move(error));
}
Val family(Meter&, Arguments a) { return std::int64_t{address_of(a).is_v4 ? 4 : 6}; }
Val ip_string(Meter&, Arguments a) { return Val::text(address_text(address_of(a))); }

bool is_all(const Address& address, unsigned char byte) {
  const auto* end = address.bytes.begin() + address.bits() / 8;
  return std::all_of(address.bytes.begin(), end, [&](unsigned char one) { return one == byte; });
}
bool unspecified(const Address& address) { return is_all(address, 0); }
bool loopback(const Address& address) {
  if (address.is_v4) return address.bytes[0] == 127;
  return address.bytes[15] == 1 && std::all_of(address.bytes.begin(), address.bytes.end() - 1,
                                               [](unsigned char one) { return one == 0; });
}
bool multicast(const Address& address) {
  return address.is_v4 ? (address.bytes[0] & 0xf0) == 0xe0 : address.bytes[0] == 0xff;
}
bool link_local_unicast(const Address& address) {
  if (address.is_v4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}
bool link_local_multicast(const Address& address) {
  if (address.is_v4) {
    return address.bytes[0] == 224 && address.bytes[1] == 0 && address.bytes[2] == 0;
  }
  return address.bytes[0] == 0xff && (address.bytes[1] & 0x0f) == 0x02;
}

Val is_unspecified(Meter&, Arguments a) { return unspecified(address_of(a)); }
Val is_loopback(Meter&, Arguments a) { return loopback(address_of(a)); }
Val is_link_local_unicast(Meter&, Arguments a) { return link_local_unicast(address_of(a)); }
Val is_link_local_multicast(Meter&, Arguments a) { return link_local_multicast(address_of(a)); }
Val is_global_unicast(Meter&, Arguments a) {
  const Address& address = address_of(a);
  return !unspecified(address) && !loopback(address) && !multicast(address) &&
         !link_local_unicast(address) && !(address.is_v4 && is_all(address, 255));
}

Val cidr(Meter&, Arguments a) {
  std::string error;
  const auto network = parse_cidr(a[0].as_text(), error);
  return network ? make_cidr(network->address, network->prefix) : Val::error(std::move(error));
}
Val is_cidr(Meter&, Arguments a) {
  std::string error;
  return parse_cidr(a[0].as_text(), error).has_value();
}
Val contains_ip(Meter&, Arguments a) { return has_address(cidr_of(a), address_of(a, 1)); }
Val contains_ip_text(Meter&, Arguments a) {
  std::string error;
  const auto address = parse_ip(a[1].as_text(), error);
  return address ? Val{has_address(cidr_of(a), *address)} : Val::error("no such overload");
}
bool has_network(const CidrValue& cidr, const Address& address, int prefix) {
  return prefix >= cidr.prefix && has_address(cidr, masked_address(address, prefix));
}
Val contains_cidr(Meter&, Arguments a) {
  return has_network(cidr_of(a), cidr_of(a, 1).address, cidr_of(a, 1).prefix);
}
Val contains_cidr_text(Meter&, Arguments a) {
  std::string error;
  const auto network = parse_cidr(a[1].as_text(), error);
  if (!network) return Val::error(std::move(error));
  return has_network(cidr_of(a), network->address, network->prefix);
}
Val cidr_ip(Meter&, Arguments a) { return make_ip(cidr_of(a).address); }
Val prefix_length(Meter&, Arguments a) { return std::int64_t{cidr_of(a).prefix}; }
Val masked(Meter&, Arguments a) {
  const CidrValue& cidr = cidr_of(a);
  return make_cidr(masked_address(cidr.address, cidr.prefix), cidr.prefix);
}
Val cidr_string(Meter&, Arguments a) {
  return Val::text(fmt::format("{}/{}", address_text(cidr_of(a).address), cidr_of(a).prefix));
}

}  // namespace

std::span<const Declaration> address_library() {
  static constexpr Declaration kLibrary[] = {
      {"ip(string): IP", ip, Cost::kFirst},
      {"isIP(string): bool", is_ip, Cost::kFirst},
      {"ip.isCanonical(string): bool", is_canonical, Cost::kFirst},
      {"IP->family(): int", family},
      {"IP->isUnspecified(): bool", is_unspecified},
      {"IP->isLoopback(): bool", is_loopback},
      {"IP->isLinkLocalMulticast(): bool", is_link_local_multicast},
      {"IP->isLinkLocalUnicast(): bool", is_link_local_unicast},
      {"IP->isGlobalUnicast(): bool", is_global_unicast},
      {"string(IP): string", ip_string},
      {"cidr(string): CIDR", cidr, Cost::kFirst},
      {"isCIDR(string): bool", is_cidr, Cost::kFirst},
      {"CIDR->containsIP(string): bool", contains_ip_text},
      {"CIDR->containsIP(IP): bool", contains_ip},
      {"CIDR->containsCIDR(string): bool", contains_cidr_text},
      {"CIDR->containsCIDR(CIDR): bool", contains_cidr},
      {"CIDR->ip(): IP", cidr_ip},
      {"CIDR->prefixLength(): int", prefix_length},
      {"CIDR->masked(): CIDR", masked},
      {"string(CIDR): string", cidr_string},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
