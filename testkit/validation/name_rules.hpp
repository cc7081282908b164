// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Syntax rules for names, with the exact messages of an API server, which tools match on.
/// kube::validation has the same rules for clients, with one problem per text.
namespace kube::testkit::detail {

/// The problems of a text; empty if there are none.
using Problems = std::vector<std::string>;

[[nodiscard]] Problems dns1123_label_problems(std::string_view text);
[[nodiscard]] Problems dns1123_subdomain_problems(std::string_view text);
/// Allows underscores, as in DNS search domains.
[[nodiscard]] Problems underscore_subdomain_problems(std::string_view text);
[[nodiscard]] Problems wildcard_subdomain_problems(std::string_view text);
[[nodiscard]] Problems dns1035_label_problems(std::string_view text);
[[nodiscard]] Problems qualified_name_problems(std::string_view text);
[[nodiscard]] Problems label_value_problems(std::string_view text);
/// Checks a key in the data of config maps and secrets.
[[nodiscard]] Problems config_key_problems(std::string_view text);
/// Checks the name of a port: at most 15 lower-case letters, digits and hyphens.
[[nodiscard]] Problems port_name_problems(std::string_view text);
/// Checks a name that is used as a path segment.
[[nodiscard]] Problems path_segment_problems(std::string_view text);
[[nodiscard]] Problems environment_name_problems(std::string_view text);
/// Checks a path with a domain prefix: `acme.io/foo`.
[[nodiscard]] Problems domain_path_problems(std::string_view text);

[[nodiscard]] Problems ip_problems(std::string_view text);
/// Checks an address, which must be in canonical form.
[[nodiscard]] Problems canonical_ip_problems(std::string_view text);
[[nodiscard]] Problems cidr_problems(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
/// Returns whether `inner` is a proper subnet of `outer`. Both are valid.
[[nodiscard]] bool is_strict_subnet(std::string_view inner, std::string_view outer);
/// Returns whether a valid CIDR has bits set beyond the prefix.
[[nodiscard]] bool has_host_bits(std::string_view cidr);
/// Rejects addresses with a special meaning, such as loopback and link-local ones.
[[nodiscard]] Problems special_ip_problems(std::string_view text);

}  // namespace kube::testkit::detail
