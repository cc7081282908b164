// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/cells.hpp"

#include <set>

namespace kube::testkit::detail {

namespace {

using namespace cells;

// Services and networks

std::string load_balancer(const Value& object) {
  std::set<std::string> addresses;
  for (const Value& ingress : list_at(object, "status.loadBalancer.ingress")) {
    const std::string_view ip = text_member(ingress, "ip");
    const std::string_view host = text_member(ingress, "hostname");
    if (!ip.empty() || !host.empty()) addresses.emplace(ip.empty() ? host : ip);
  }
  return fmt::format("{}", fmt::join(addresses, ","));
}

Value service_external(const Value& service, Time) {
  const std::string_view type = text_at(service, "spec.type");
  std::string external = joined(list_at(service, "spec.externalIPs"), "");
  if (type == "ClusterIP" || type == "NodePort") return external.empty() ? "<none>" : external;
  if (type == "ExternalName") return text_at(service, "spec.externalName");
  if (type != "LoadBalancer") return "<unknown>";
  std::string balancer = load_balancer(service);
  if (!external.empty()) return balancer.empty() ? external : balancer + ',' + external;
  return balancer.empty() ? "<pending>" : balancer;
}

Value service_ports(const Value& service, Time) {
  Texts ports;
  for (const Value& port : list_at(service, "spec.ports")) {
    const std::int64_t node_port = number_at(port, "nodePort");
    const std::string_view protocol = text_member(port, "protocol");
    ports.push_back(node_port > 0
                        ? fmt::format("{}:{}/{}", number_at(port, "port"), node_port, protocol)
                        : fmt::format("{}/{}", number_at(port, "port"), protocol));
  }
  return ports.empty() ? "<none>" : fmt::format("{}", fmt::join(ports, ","));
}

std::string host_port(std::string_view host, std::int64_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

Value endpoints_cell(const Value& endpoints, Time) {
  const auto& subsets = list_at(endpoints, "subsets");
  if (subsets.empty()) return "<none>";
  Texts texts;
  for (const Value& subset : subsets) {
    const auto& ports = list_at(subset, "ports");
    for (const Value& address : list_at(subset, "addresses")) {
      if (ports.empty()) texts.emplace_back(text_member(address, "ip"));
    }
    for (const Value& port : ports) {
      for (const Value& address : list_at(subset, "addresses")) {
        texts.push_back(host_port(text_member(address, "ip"), number_at(port, "port")));
      }
    }
  }
  return with_more(texts, "");
}

Value slice_ports(const Value& slice, Time) {
  Texts texts;
  for (const Value& port : list_at(slice, "ports")) {
    texts.push_back(port["port"].is_absent() ? text_or(port, "name", "*")
                                             : encode_json(port["port"]));
  }
  return with_more(texts, "<unset>");
}

Value slice_endpoints(const Value& slice, Time) {
  Texts texts;
  for (const Value& endpoint : list_at(slice, "endpoints")) {
    for (const Value& address : list_at(endpoint, "addresses")) {
      if (address.is_string()) texts.emplace_back(address.as_string());
    }
  }
  return with_more(texts, "<unset>");
}

Value ingress_hosts(const Value& ingress, Time) {
  Texts hosts;
  const auto& rules = list_at(ingress, "spec.rules");
  for (const Value& rule : rules) {
    if (!text_member(rule, "host").empty()) hosts.emplace_back(text_member(rule, "host"));
  }
  return with_more(hosts, "*");
}
Value ingress_address(const Value& ingress, Time) { return load_balancer(ingress); }
Value ingress_ports(const Value& ingress, Time) {
  return list_at(ingress, "spec.tls").empty() ? "80" : "80, 443";
}
Value ingress_class_name(const Value& object, Time) {
  const bool is_default = is_default_class(object, "ingressclass.kubernetes.io/is-default-class");
  return fmt::format("{}{}", text_at(object, "metadata.name"), is_default ? " (default)" : "");
}
Value ingress_class_parameters(const Value& object, Time) {
  const Value* parameters = object.find("spec.parameters");
  if (parameters == nullptr || !parameters->is_object()) return "<none>";
  const std::string_view group = text_member(*parameters, "apiGroup");
  return fmt::format("{}{}{}/{}", text_member(*parameters, "kind"), group.empty() ? "" : ".", group,
                     text_member(*parameters, "name"));
}

constexpr TableColumn kService[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Type", "string", text<"spec.type">},
    {"Cluster-IP", "string", text_else<"spec.clusterIPs[0]", "<none>">},
    {"External-IP", "string", service_external},
    {"Port(s)", "string", service_ports},
    {"Age", "string", age_cell},
    {"Selector", "string", labels_of<"spec.selector">, 1},
};

constexpr TableColumn kEndpoints[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Endpoints", "string", endpoints_cell},
    {"Age", "string", age_cell},
};

constexpr TableColumn kEndpointSlice[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"AddressType", "string", text<"addressType">},
    {"Ports", "string", slice_ports},
    {"Endpoints", "string", slice_endpoints},
    {"Age", "string", age_cell},
};

constexpr TableColumn kIngress[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Class", "string", text_else<"spec.ingressClassName", "<none>">},
    {"Hosts", "string", ingress_hosts},
    {"Address", "string", ingress_address},
    {"Ports", "string", ingress_ports},
    {"Age", "string", age_cell},
};

constexpr TableColumn kIngressClass[] = {
    {"Name", "string", ingress_class_name, 0, "name"},
    {"Controller", "string", text<"spec.controller">},
    {"Parameters", "string", ingress_class_parameters},
    {"Age", "string", age_cell},
};

constexpr TableColumn kNetworkPolicy[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Pod-Selector", "string", selector_of<"spec.podSelector">},
    {"Age", "string", age_cell},
};

constexpr Table kTables[] = {
    {"", "Service", kService},
    {"", "Endpoints", kEndpoints},
    {"discovery.k8s.io", "EndpointSlice", kEndpointSlice},
    {"networking.k8s.io", "Ingress", kIngress},
    {"networking.k8s.io", "IngressClass", kIngressClass},
    {"networking.k8s.io", "NetworkPolicy", kNetworkPolicy},
};

}  // namespace

std::span<const TableColumn> network_columns(std::string_view group, std::string_view kind) {
  for (const Table& table : kTables) {
    if (table.group == group && table.kind == kind) return table.columns;
  }
  return {};
}

}  // namespace kube::testkit::detail
