// SPDX-License-Identifier: Apache-2.0
// EndpointSlices of discovery.k8s.io/v1, and Endpoints of core/v1.
#include <set>
#include <string>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

/// Rejects addresses that cannot be an endpoint, such as loopback and link-local ones.
void check_reachable(const Field& address) { check_text(address, special_ip_problems); }

void check_addresses(const Field& addresses, const Field& type) {
  if (addresses.size() == 0) addresses.required("must contain at least 1 address");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Field address = addresses.at(i);
    if (type.is("FQDN")) {
      check_text(address, dns1123_subdomain_problems);
      continue;
    }
    if (!type.is("IPv4") && !type.is("IPv6")) continue;
    if (!ip_problems(address.text()).empty()) {
      check_text(address, ip_problems);
    } else if (is_ipv6(address.text()) != type.is("IPv6")) {
      addresses.invalid(address.text(),
                        type.is("IPv6") ? "must be an IPv6 address" : "must be an IPv4 address");
    } else {
      check_reachable(address);
    }
  }
}

void check_zones(const Field& zones) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const Field name = zones.at(i)["name"];
    check_text(name, label_value_problems);
    if (!names.emplace(name.text()).second) name.duplicate();
  }
}

}  // namespace

void validate_endpoint_slice(const Field& object, const Value* live) {
  const Field type = object["addressType"];
  if (check_required(type)) check_one_of(type, {"FQDN", "IPv4", "IPv6"});
  for (std::size_t i = 0; i < object["endpoints"].size(); ++i) {
    const Field endpoint = object["endpoints"].at(i);
    check_addresses(endpoint["addresses"], type);
    check_optional_text(endpoint["nodeName"], dns1123_subdomain_problems);
    check_optional_text(endpoint["hostname"], dns1123_label_problems);
    check_zones(endpoint["hints"]["forZones"]);
  }
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < object["ports"].size(); ++i) {
    const Field port = object["ports"].at(i);
    check_optional_text(port["name"], dns1123_label_problems);
    if (!names.emplace(port["name"].text()).second) port["name"].duplicate();
    check_one_of(port["protocol"], {"SCTP", "TCP", "UDP"});
    check_optional_text(port["appProtocol"], qualified_name_problems);
  }
  if (live != nullptr) check_same(type, (*live)["addressType"]);
}

void validate_endpoints(const Field& object, const Value* /*live*/) {
  for (std::size_t i = 0; i < object["subsets"].size(); ++i) {
    const Field subset = object["subsets"].at(i);
    if (subset["addresses"].size() + subset["notReadyAddresses"].size() == 0) {
      subset.required("must specify `addresses` or `notReadyAddresses`");
    }
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (std::size_t j = 0; j < subset[list].size(); ++j) {
        const Field address = subset[list].at(j);
        check_text(address["ip"], ip_problems);
        check_reachable(address["ip"]);
        check_optional_text(address["hostname"], dns1123_label_problems);
      }
    }
    const Field ports = subset["ports"];
    for (std::size_t j = 0; j < ports.size(); ++j) {
      const Field port = ports.at(j);
      if (!port["name"].text().empty()) {
        check_text(port["name"], dns1123_label_problems);
      } else if (ports.size() > 1) {
        port["name"].required();
      }
      check_port(port["port"]);
      check_one_of(port["protocol"], {"SCTP", "TCP", "UDP"});
    }
  }
}

}  // namespace kube::testkit::detail
