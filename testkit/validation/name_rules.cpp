// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/name_rules.hpp"

#include <arpa/inet.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "testkit/validation/string_formats.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kLabel = 63;
constexpr std::size_t kSubdomain = 253;

constexpr std::string_view kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kUnderscoreText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    "or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for "
    "validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kWildcardText =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character (e.g. '*.example.com', regex used for validation is "
    "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel1035Text =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamePartText =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with "
    "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKeyText =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
    " "
    "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_name_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

/// Returns whether the text consists of `inner` characters and begins and ends with `outer` ones.
template <typename Inner, typename Outer>
bool has_form(std::string_view text, Inner inner, Outer outer) {
  return !text.empty() && std::ranges::all_of(text, inner) && outer(text.front()) &&
         outer(text.back());
}

bool is_label(std::string_view text) {
  return has_form(
      text, [](char c) { return is_lower(c) || c == '-'; }, is_lower);
}

template <typename Part>
bool is_dotted(std::string_view text, Part part) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!part(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_subdomain(std::string_view text) { return is_dotted(text, is_label); }

Problems problems(std::string_view text, std::size_t limit, bool well_formed,
                  std::string_view otherwise) {
  Problems found;
  if (text.size() > limit) found.push_back(fmt::format("must be no more than {} bytes", limit));
  if (!well_formed) found.emplace_back(otherwise);
  return found;
}

struct Address {
  bool v6 = false;
  std::array<unsigned char, 16> bytes{};
};

std::optional<Address> parse_ip(std::string_view text) {
  Address address;
  const std::string copy{text};
  if (copy.size() != std::string_view{copy.c_str()}.size()) return std::nullopt;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.v6 = true;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

struct Subnet {
  Address address;
  unsigned bits = 0;
};

/// Parses a text that cidr_problems accepts.
Subnet parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  Subnet subnet;
  subnet.address = parse_ip(text.substr(0, slash)).value_or(Address{});
  const std::string_view size = text.substr(slash + 1);
  std::from_chars(size.data(), size.data() + size.size(), subnet.bits);
  return subnet;
}

bool same_prefix(const Address& a, const Address& b, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i) {
    if (((a.bytes[i / 8] ^ b.bytes[i / 8]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

Problems dns1123_label_problems(std::string_view text) {
  return problems(text, kLabel, is_label(text),
                  is_subdomain(text) ? "must not contain dots" : kLabelText);
}

Problems dns1123_subdomain_problems(std::string_view text) {
  return problems(text, kSubdomain, is_subdomain(text), kSubdomainText);
}

Problems underscore_subdomain_problems(std::string_view text) {
  const auto part = [](std::string_view one) {
    if (one.starts_with('_')) one.remove_prefix(1);
    return has_form(
        one, [](char c) { return is_lower(c) || c == '-' || c == '_'; }, is_lower);
  };
  return problems(text, kSubdomain, is_dotted(text, part), kUnderscoreText);
}

Problems wildcard_subdomain_problems(std::string_view text) {
  return problems(text, kSubdomain, text.starts_with("*.") && is_subdomain(text.substr(2)),
                  kWildcardText);
}

Problems dns1035_label_problems(std::string_view text) {
  return problems(text, kLabel, is_label(text) && !(text.front() >= '0' && text.front() <= '9'),
                  kLabel1035Text);
}

Problems qualified_name_problems(std::string_view text) {
  Problems found;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      found.emplace_back(
          "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must "
          "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
          "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
          "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
      return found;
    }
    if (prefix.empty()) {
      found.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& one : dns1123_subdomain_problems(prefix)) {
        found.push_back("prefix part " + one);
      }
    }
  }
  if (name.empty()) {
    found.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabel) {
    found.push_back(fmt::format("name part must be no more than {} bytes", kLabel));
  }
  if (!has_form(name, is_name_character, is_alphanumeric)) found.emplace_back(kNamePartText);
  return found;
}

Problems label_value_problems(std::string_view text) {
  return problems(text, kLabel, text.empty() || has_form(text, is_name_character, is_alphanumeric),
                  kLabelValueText);
}

Problems config_key_problems(std::string_view text) {
  Problems found =
      problems(text, kSubdomain, !text.empty() && std::ranges::all_of(text, is_name_character),
               kConfigKeyText);
  if (text == ".") {
    found.emplace_back("must not be '.'");
  } else if (text == "..") {
    found.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    found.emplace_back("must not start with '..'");
  }
  return found;
}

Problems port_name_problems(std::string_view text) {
  Problems found;
  if (text.size() > 15) found.emplace_back("must be no more than 15 characters");
  if (!std::ranges::all_of(text, [](char c) { return is_lower(c) || c == '-'; })) {
    found.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; })) {
    found.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) {
    found.emplace_back("must not contain consecutive hyphens");
  }
  if (text.starts_with('-') || text.ends_with('-')) {
    found.emplace_back("must not begin or end with a hyphen");
  }
  return found;
}

Problems path_segment_problems(std::string_view text) {
  if (text == "." || text == "..") return {fmt::format("may not be '{}'", text)};
  Problems found;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos)
      found.push_back(fmt::format("may not contain '{}'", c));
  }
  return found;
}

Problems environment_name_problems(std::string_view text) {
  const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  if (!text.empty() && std::ranges::all_of(text, fits)) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Problems domain_path_problems(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return {"must be a domain-prefixed path (such as \"acme.io/foo\")"};
  }
  Problems found = dns1123_subdomain_problems(text.substr(0, slash));
  static const Pattern kPath{"^[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$"};
  if (!kPath.found_in(text.substr(slash + 1))) {
    found.emplace_back(
        "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
  }
  return found;
}

Problems ip_problems(std::string_view text) {
  if (parse_ip(text)) return {};
  return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
}

Problems canonical_ip_problems(std::string_view text) {
  const std::optional<Address> address = parse_ip(text);
  if (!address) {
    // A dotted address that is invalid only because of leading zeros.
    static const Pattern kLeadingZeros{"^0*\\d{1,3}(\\.0*\\d{1,3}){3}$"};
    if (kLeadingZeros.found_in(text)) return {"must not have leading 0s"};
    return ip_problems(text);
  }
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  inet_ntop(address->v6 ? AF_INET6 : AF_INET, address->bytes.data(), canonical.data(),
            canonical.size());
  if (text == canonical.data()) return {};
  return {fmt::format("must be in canonical form (\"{}\")", canonical.data())};
}

Problems cidr_problems(std::string_view text) {
  if (has_format("cidr", text)) return {};
  return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
}

bool is_ipv6(std::string_view text) { return text.find(':') != std::string_view::npos; }

bool is_strict_subnet(std::string_view inner, std::string_view outer) {
  const Subnet small = parse_cidr(inner);
  const Subnet large = parse_cidr(outer);
  return small.address.v6 == large.address.v6 && small.bits > large.bits &&
         same_prefix(small.address, large.address, large.bits);
}

bool has_host_bits(std::string_view cidr) {
  const Subnet subnet = parse_cidr(cidr);
  const unsigned size = subnet.address.v6 ? 128 : 32;
  for (unsigned i = subnet.bits; i < size; ++i) {
    if ((subnet.address.bytes[i / 8] >> (7 - i % 8) & 1) != 0) return true;
  }
  return false;
}

Problems special_ip_problems(std::string_view text) {
  const std::optional<Address> address = parse_ip(text);
  if (!address) return {"must be a valid IP address"};
  const auto& bytes = address->bytes;
  const auto zero = [](unsigned char byte) { return byte == 0; };
  const std::size_t size = address->v6 ? 16 : 4;
  Problems found;
  if (std::all_of(bytes.begin(), bytes.begin() + size, zero)) {
    found.push_back(fmt::format("may not be unspecified ({})", text));
  }
  const bool v6_one =
      address->v6 && bytes[15] == 1 && std::all_of(bytes.begin(), bytes.begin() + 15, zero);
  if ((!address->v6 && bytes[0] == 127) || v6_one) {
    found.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if ((!address->v6 && bytes[0] == 169 && bytes[1] == 254) ||
      (address->v6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)) {
    found.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if ((!address->v6 && bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0) ||
      (address->v6 && bytes[0] == 0xff && (bytes[1] & 0x0f) == 2)) {
    found.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return found;
}

}  // namespace kube::testkit::detail
