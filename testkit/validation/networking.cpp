// SPDX-License-Identifier: Apache-2.0
// networking.k8s.io/v1.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

void check_backend(const Field& backend) {
  const Field service = backend["service"];
  const bool has_resource = backend["resource"].is_set();
  if (has_resource && service.is_set()) {
    backend.invalid("", "cannot set both resource and service backends");
  } else if (has_resource) {
    check_required(backend["resource"]["kind"]);
    check_required(backend["resource"]["name"]);
  } else if (!service.is_set()) {
    backend.invalid("", "resource or service backend is required");
  } else {
    if (check_required(service["name"])) check_text(service["name"], dns1123_label_problems);
    const Field port = service["port"];
    const bool named = !port["name"].text().empty();
    const bool numbered = port["number"].number().value_or(0) != 0;
    if (named && numbered) {
      backend.invalid("", "cannot set both port name & port number");
    } else if (named) {
      check_text(port["name"], port_name_problems);
    } else if (numbered) {
      check_port(port["number"]);
    } else {
      backend.required("port name or number is required");
    }
  }
}

void check_path(const Field& entry) {
  const Field type = entry["pathType"];
  const Field path = entry["path"];
  if (!type.is_set()) {
    type.required("pathType must be specified");
  } else if (type.is("Exact") || type.is("Prefix")) {
    if (!path.text().starts_with('/')) path.invalid(path.text(), "must be an absolute path");
    for (const std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
      if (path.text().find(part) != std::string_view::npos) {
        path.invalid(fmt::format("must not contain '{}'", part));
      }
    }
    for (const std::string_view end : {"/..", "/."}) {
      if (path.text().ends_with(end)) path.invalid(fmt::format("cannot end with '{}'", end));
    }
  } else if (type.is("ImplementationSpecific")) {
    if (!path.text().empty() && !path.text().starts_with('/')) {
      path.invalid("must be an absolute path");
    }
  } else {
    type.unsupported({"Exact", "ImplementationSpecific", "Prefix"});
  }
  check_backend(entry["backend"]);
}

void check_host(const Field& host) {
  if (host.text().empty()) return;
  if (ip_problems(host.text()).empty()) {
    host.invalid("must be a DNS name, not an IP address");
  } else if (host.text().find('*') != std::string_view::npos) {
    check_text(host, wildcard_subdomain_problems);
  } else {
    check_text(host, dns1123_subdomain_problems);
  }
}

void check_policy_port(const Field& port) {
  check_one_of(port["protocol"], {"TCP", "UDP", "SCTP"});
  const Field number = port["port"];
  const Field end = port["endPort"];
  if (!number.is_set()) {
    if (end.is_set()) end.invalid("may not be specified when `port` is not specified");
    return;
  }
  check_port_or_name(number);
  if (!end.is_set()) return;
  if (number.value().is_string()) {
    end.invalid("may not be specified when `port` is non-numeric");
    return;
  }
  if (end.number().value_or(0) < number.number().value_or(0)) {
    end.invalid(number.value(), "must be greater than or equal to `port`");
  }
  check_port(end);
}

void check_block(const Field& block) {
  const Field cidr = block["cidr"];
  if (!check_required(cidr)) return;
  check_text(cidr, cidr_problems);
  const bool is_valid = cidr_problems(cidr.text()).empty();
  for (std::size_t i = 0; i < block["except"].size(); ++i) {
    const Field hole = block["except"].at(i);
    const Problems problems = cidr_problems(hole.text());
    for (const std::string& problem : problems) hole.invalid(hole.text(), problem);
    if (is_valid && problems.empty() && !is_strict_subnet(hole.text(), cidr.text())) {
      hole.invalid("must be a strict subset of `cidr`");
    }
  }
}

void check_peer(const Field& peer) {
  std::size_t given = 0;
  for (const char* member : {"podSelector", "namespaceSelector"}) {
    if (!peer[member].is_set()) continue;
    ++given;
    check_label_selector(peer[member]);
  }
  const Field block = peer["ipBlock"];
  if (block.is_set()) check_block(block);
  if (given == 0 && !block.is_set()) {
    peer.required("must specify a peer");
  } else if (given > 0 && block.is_set()) {
    peer.forbidden("may not specify both ipBlock and another peer");
  }
}

void check_policy_rules(const Field& rules, const char* peers) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Field rule = rules.at(i);
    for (std::size_t j = 0; j < rule["ports"].size(); ++j) check_policy_port(rule["ports"].at(j));
    for (std::size_t j = 0; j < rule[peers].size(); ++j) check_peer(rule[peers].at(j));
  }
}

}  // namespace

void validate_ingress(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  if (spec["rules"].size() == 0 && !spec["defaultBackend"].is_set()) {
    spec.invalid(nullptr, "either `defaultBackend` or `rules` must be specified");
  }
  if (spec["defaultBackend"].is_set()) check_backend(spec["defaultBackend"]);
  for (std::size_t i = 0; i < spec["rules"].size(); ++i) {
    const Field rule = spec["rules"].at(i);
    check_host(rule["host"]);
    const Field http = rule["http"];
    if (!http.is_set()) continue;
    if (http["paths"].size() == 0) http["paths"].required();
    for (std::size_t j = 0; j < http["paths"].size(); ++j) check_path(http["paths"].at(j));
  }
  for (std::size_t i = 0; i < spec["tls"].size(); ++i) {
    const Field tls = spec["tls"].at(i);
    for (std::size_t j = 0; j < tls["hosts"].size(); ++j) {
      const Field host = tls["hosts"].at(j);
      check_text(host, host.text().find('*') != std::string_view::npos
                           ? wildcard_subdomain_problems
                           : dns1123_subdomain_problems);
    }
    check_optional_text(tls["secretName"], dns1123_subdomain_problems);
  }
  const Field class_name = spec["ingressClassName"];
  if (class_name.is_set()) check_text(class_name, dns1123_subdomain_problems);
  static constexpr std::string_view kAnnotation = "kubernetes.io/ingress.class";
  const Value& annotation = object["metadata"]["annotations"].value()[kAnnotation];
  if (live == nullptr && annotation.is_string() && class_name.is_set() &&
      !(annotation == class_name.value())) {
    object["annotations"][kAnnotation].invalid(
        annotation, "must match `ingressClassName` when both are specified");
  }
}

void validate_ingress_class(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  if (live != nullptr) check_same(spec["controller"], (*live)["spec"]["controller"]);
  if (live == nullptr && check_required(spec["controller"])) {
    check_text(spec["controller"], domain_path_problems);
  }
  const Field parameters = spec["parameters"];
  if (!parameters.is_set()) return;
  check_required(parameters["kind"]);
  check_required(parameters["name"]);
  const Field scope = parameters["scope"];
  const Field namespace_ = parameters["namespace"];
  check_one_of(scope, {"Cluster", "Namespace"});
  if (scope.is("Namespace")) {
    check_required(namespace_, "`parameters.scope` is set to 'Namespace'");
  } else if (scope.is("Cluster") && namespace_.is_set()) {
    namespace_.forbidden("`parameters.scope` is set to 'Cluster'");
  }
}

void validate_network_policy(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  check_label_selector(spec["podSelector"]);
  check_policy_rules(spec["ingress"], "from");
  check_policy_rules(spec["egress"], "to");
  const Field types = spec["policyTypes"];
  if (types.size() > 2) {
    types.invalid("may not specify more than two policyTypes");
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) check_one_of(types.at(i), {"Ingress", "Egress"});
}

void validate_service_cidr(const Field& object, const Value* live) {
  const Field cidrs = object["spec"]["cidrs"];
  if (live != nullptr) {
    // A single-family range may be extended by a second family.
    const Value& before = (*live)["spec"]["cidrs"];
    for (std::size_t i = 0; i < before.size(); ++i) check_same(cidrs.at(i), before[i]);
    return;
  }
  if (cidrs.size() == 0) cidrs.required("at least one CIDR required");
  if (cidrs.size() > 2) {
    cidrs.invalid(object["spec"].value(), "may only hold up to 2 values");
    return;
  }
  bool valid = true;
  for (std::size_t i = 0; i < cidrs.size(); ++i) {
    const Field cidr = cidrs.at(i);
    const Problems problems = cidr_problems(cidr.text());
    for (const std::string& problem : problems) cidr.invalid(cidr.text(), problem);
    if (problems.empty() && has_host_bits(cidr.text())) {
      cidr.invalid("must not have bits set beyond the prefix length");
    }
    valid = valid && problems.empty();
  }
  if (valid && cidrs.size() == 2 && is_ipv6(cidrs.at(0).text()) == is_ipv6(cidrs.at(1).text())) {
    cidrs.invalid(
        "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
        "2001:db8::/64");
  }
}

void validate_ip_address(const Field& object, const Value* live) {
  const Field parent = object["spec"]["parentRef"];
  if (!parent.is_set()) {
    parent.required();
    return;
  }
  check_required(parent["resource"]);
  check_required(parent["name"]);
  check_optional_text(parent["group"], dns1123_subdomain_problems);
  check_optional_text(parent["resource"], path_segment_problems);
  check_optional_text(parent["name"], path_segment_problems);
  check_optional_text(parent["namespace"], path_segment_problems);
  if (live != nullptr) check_same(parent, (*live)["spec"]["parentRef"]);
}

}  // namespace kube::testkit::detail
