// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The spelling rules of names with the texts of an API server, which tools match on.
/// kube::validation has the same rules for clients, with one problem per text.
namespace kube::testkit::detail {

/// Problems of a text, empty if there is none.
using Problems = std::vector<std::string>;

[[nodiscard]] Problems dns1123_label_problems(std::string_view text);
[[nodiscard]] Problems dns1123_subdomain_problems(std::string_view text);
/// With underscores, as search domains of DNS may have them.
[[nodiscard]] Problems underscore_subdomain_problems(std::string_view text);
[[nodiscard]] Problems wildcard_subdomain_problems(std::string_view text);
[[nodiscard]] Problems dns1035_label_problems(std::string_view text);
[[nodiscard]] Problems qualified_name_problems(std::string_view text);
[[nodiscard]] Problems label_value_problems(std::string_view text);
/// A key in the data of config maps and secrets.
[[nodiscard]] Problems config_key_problems(std::string_view text);
/// The name of a port: at most 15 lower-case letters, digits and hyphens.
[[nodiscard]] Problems port_name_problems(std::string_view text);
/// A name that is one segment of a path.
[[nodiscard]] Problems path_segment_problems(std::string_view text);
[[nodiscard]] Problems environment_name_problems(std::string_view text);
/// `acme.io/foo`.
[[nodiscard]] Problems domain_path_problems(std::string_view text);

[[nodiscard]] Problems ip_problems(std::string_view text);
/// An address in its one canonical spelling.
[[nodiscard]] Problems canonical_ip_problems(std::string_view text);
[[nodiscard]] Problems cidr_problems(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
/// Whether all addresses of `inner` are in `outer`, and not the other way round. Both are valid.
[[nodiscard]] bool is_strict_subnet(std::string_view inner, std::string_view outer);
/// Whether the address of a valid CIDR has bits beyond the prefix.
[[nodiscard]] bool has_host_bits(std::string_view cidr);
/// Problems of an address that something is reached at from outside.
[[nodiscard]] Problems special_ip_problems(std::string_view text);

}  // namespace kube::testkit::detail
