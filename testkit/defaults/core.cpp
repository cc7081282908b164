// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/pods.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

void default_pods(const Resource&, Value& pod) {
  default_pod(pod);
  within(pod, "status", [](Value& status) {
    const Value& address = std::as_const(status)["podIP"];
    if (address.is_string() && !address.as_string().empty()) {
      fill(status, "podIPs", Value::array({Value::object({{"ip", address}})}));
    }
  });
}

void default_pod_templates(const Resource&, Value& object) { default_pod_template(object); }

void default_replication_controllers(const Resource&, Value& object) {
  within(object, "spec", [&](Value& spec) {
    fill(spec, "replicas", 1);
    default_pod_template(spec);
    const Value labels = std::as_const(spec)["template"]["metadata"]["labels"];
    if (labels.size() == 0) return;
    fill(spec, "selector", labels);
    if (std::as_const(object)["metadata"]["labels"].size() == 0) {
      part(object, "metadata")["labels"] = labels;
    }
  });
}

void default_service_spec(Value& spec) {
  fill_empty(spec, "type", "ClusterIP");
  fill_empty(spec, "sessionAffinity", "None");
  if (std::as_const(spec)["sessionAffinity"] == Value{"ClientIP"}) {
    fill(part(part(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 10800);
  } else {
    spec.erase("sessionAffinityConfig");
  }
  const Value type = std::as_const(spec)["type"];
  if (!(type == Value{"ExternalName"})) fill(spec, "internalTrafficPolicy", "Cluster");
  const bool balanced = type == Value{"LoadBalancer"};
  if (balanced || type == Value{"NodePort"} ||
      (type == Value{"ClusterIP"} && std::as_const(spec)["externalIPs"].size() > 0)) {
    fill_empty(spec, "externalTrafficPolicy", "Cluster");
  }
  if (balanced) fill(spec, "allocateLoadBalancerNodePorts", true);
  each(spec, "ports", [](Value& port) {
    fill_empty(port, "protocol", "TCP");
    fill_empty(port, "targetPort", std::as_const(port)["port"]);
  });
}

void default_services(const Resource&, Value& service) {
  within(service, "spec", default_service_spec);
  if (!(std::as_const(service)["spec"]["type"] == Value{"LoadBalancer"})) return;
  within(service, "status", [](Value& status) {
    within(status, "loadBalancer", [](Value& balancer) {
      each(balancer, "ingress", [](Value& entry) {
        if (!is_empty(std::as_const(entry)["ip"])) fill(entry, "ipMode", "VIP");
      });
    });
  });
}

void default_endpoints(const Resource&, Value& object) {
  each(object, "subsets", [](Value& subset) {
    each(subset, "ports", [](Value& port) { fill_empty(port, "protocol", "TCP"); });
  });
}

void default_secrets(const Resource&, Value& object) { fill_empty(object, "type", "Opaque"); }

void default_namespaces(const Resource&, Value& object) {
  within(object, "status", [](Value& status) { fill_empty(status, "phase", "Active"); });
  const Value name = std::as_const(object)["metadata"]["name"];
  if (!is_empty(name)) {
    part(part(object, "metadata"), "labels")["kubernetes.io/metadata.name"] = name;
  }
}

void default_nodes(const Resource&, Value& object) {
  within(object, "status", [](Value& status) {
    within(status, "capacity", round_amounts);
    within(status, "allocatable", round_amounts);
    const Value capacity = std::as_const(status)["capacity"];
    if (capacity.size() > 0) fill(status, "allocatable", capacity);
  });
  within(object, "spec", [](Value& spec) {
    const Value range = std::as_const(spec)["podCIDR"];
    if (!is_empty(range)) fill(spec, "podCIDRs", Value::array({range}));
    const Value ranges = std::as_const(spec)["podCIDRs"];
    if (ranges.size() > 0) fill_empty(spec, "podCIDR", ranges[0]);
  });
}

void default_claims(const Resource&, Value& object) { within(object, "spec", default_claim_spec); }

void default_volumes(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill_empty(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    within(spec, "capacity", round_amounts);
    default_volume_source(spec);
  });
}

/// Copies amounts that are missing in `amounts`.
void take_over(Value& amounts, const Value& from) {
  if (!from.is_object()) return;
  for (const auto& [name, amount] : from.as_object()) {
    if (std::as_const(amounts)[name].is_absent()) amounts[name.view()] = amount;
  }
}

void default_limit(Value& limit) {
  for (const char* list : {"min", "max", "default", "defaultRequest", "maxLimitRequestRatio"}) {
    within(limit, list, round_amounts);
  }
  if (!(std::as_const(limit)["type"] == Value{"Container"})) return;
  Value limits = part(limit, "default");
  Value requests = part(limit, "defaultRequest");
  take_over(limits, std::as_const(limit)["max"]);
  take_over(requests, limits);
  take_over(requests, std::as_const(limit)["min"]);
  const auto set = [&limit](const char* member, Value amounts) {
    if (amounts.size() == 0) {
      limit.erase(member);
    } else {
      limit[member] = std::move(amounts);
    }
  };
  set("default", std::move(limits));
  set("defaultRequest", std::move(requests));
}

void default_limit_ranges(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) { each(spec, "limits", default_limit); });
}

void default_quotas(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) { within(spec, "hard", round_amounts); });
}

constexpr std::array kCore{KindDefaults{"pods", default_pods},
                           KindDefaults{"podtemplates", default_pod_templates},
                           KindDefaults{"replicationcontrollers", default_replication_controllers},
                           KindDefaults{"services", default_services},
                           KindDefaults{"endpoints", default_endpoints},
                           KindDefaults{"secrets", default_secrets},
                           KindDefaults{"namespaces", default_namespaces},
                           KindDefaults{"nodes", default_nodes},
                           KindDefaults{"persistentvolumeclaims", default_claims},
                           KindDefaults{"persistentvolumes", default_volumes},
                           KindDefaults{"limitranges", default_limit_ranges},
                           KindDefaults{"resourcequotas", default_quotas}};

}  // namespace

std::span<const KindDefaults> core_defaults() { return kCore; }

}  // namespace kube::testkit::detail
