// SPDX-License-Identifier: Apache-2.0
#include "testkit/defaults/pods.hpp"

#include <kube/api/quantity.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "testkit/admission/pod_resources.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

constexpr int kFileMode = 0644;

void default_field_ref(Value& owner) {
  within(owner, "fieldRef", [](Value& field) { fill_empty(field, "apiVersion", "v1"); });
}

void default_http_get(Value& owner) {
  within(owner, "httpGet", [](Value& get) {
    fill_empty(get, "path", "/");
    fill_empty(get, "scheme", "HTTP");
  });
}

void default_probe(Value& probe) {
  fill_empty(probe, "timeoutSeconds", 1);
  fill_empty(probe, "periodSeconds", 10);
  fill_empty(probe, "successThreshold", 1);
  fill_empty(probe, "failureThreshold", 3);
  default_http_get(probe);
  within(probe, "grpc", [](Value& call) { fill(call, "service", ""); });
}

/// Returns Always for an image without tag and digest: it means "latest", which may change.
const char* pull_policy(const Value& image) {
  std::string_view name = image.is_string() ? image.as_string() : std::string_view{};
  if (name.empty()) return "IfNotPresent";
  const std::size_t digest = name.find('@');
  const bool has_digest = digest != std::string_view::npos;
  name = name.substr(0, digest);
  const std::size_t slash = name.rfind('/');
  const std::size_t colon = name.find(':', slash == std::string_view::npos ? 0 : slash);
  const bool latest =
      colon == std::string_view::npos ? !has_digest : name.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void default_container(Value& container) {
  fill_empty(container, "terminationMessagePath", "/dev/termination-log");
  fill_empty(container, "terminationMessagePolicy", "File");
  fill(container, "resources", Value::object());
  round_resources(container);
  fill_empty(container, "imagePullPolicy", pull_policy(std::as_const(container)["image"]));
  each(container, "ports", [](Value& port) { fill_empty(port, "protocol", "TCP"); });
  each(container, "env", [](Value& variable) { within(variable, "valueFrom", default_field_ref); });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    within(container, probe, default_probe);
  }
  within(container, "lifecycle", [](Value& lifecycle) {
    within(lifecycle, "postStart", default_http_get);
    within(lifecycle, "preStop", default_http_get);
  });
}

void default_projected(Value& files) {
  fill(files, "defaultMode", kFileMode);
  each(files, "sources", [](Value& source) {
    within(source, "serviceAccountToken",
           [](Value& token) { fill(token, "expirationSeconds", 3600); });
    within(source, "downwardAPI", [](Value& down) { each(down, "items", default_field_ref); });
  });
}

void default_volume(Value& volume) {
  if (volume.size() == 1) volume["emptyDir"] = Value::object();
  for (const char* source : {"secret", "configMap"}) {
    within(volume, source, [](Value& files) { fill(files, "defaultMode", kFileMode); });
  }
  within(volume, "downwardAPI", [](Value& files) {
    fill(files, "defaultMode", kFileMode);
    each(files, "items", default_field_ref);
  });
  within(volume, "projected", default_projected);
  within(volume, "image", [](Value& image) {
    fill_empty(image, "pullPolicy", pull_policy(std::as_const(image)["reference"]));
  });
  within(volume, "ephemeral", [](Value& source) {
    within(source, "volumeClaimTemplate",
           [](Value& claim) { within(claim, "spec", default_claim_spec); });
  });
  default_volume_source(volume);
}

/// Defaults the requests of a container to its limits.
void request_limits(Value& container) {
  const Value limits = std::as_const(container)["resources"]["limits"];
  if (limits.size() == 0) return;
  Value& requests = part(container["resources"], "requests");
  for (const auto& [name, amount] : limits.as_object()) {
    if (std::as_const(requests)[name].is_absent()) requests[name.view()] = amount;
  }
}

/// Defaults the pod-level requests to the sum of its containers, or else to the pod-level limits.
void default_whole_requests(Value& pod) {
  const Value limits = std::as_const(pod)["spec"]["resources"]["limits"];
  if (limits.size() == 0) return;
  const ResourceAmounts of_containers = container_requests(pod);
  Value& requests = part(pod["spec"]["resources"], "requests");
  for (const auto& [name, amount] : of_containers) {
    if (is_pod_level_resource(name) && !name.starts_with("hugepages-") &&
        std::as_const(requests)[name].is_absent()) {
      requests[name] = amount.canonical().text();
    }
  }
  for (const auto& [name, amount] : limits.as_object()) {
    if (is_pod_level_resource(name.view()) && std::as_const(requests)[name].is_absent()) {
      requests[name.view()] = amount;
    }
  }
}

}  // namespace

void round_amounts(Value& list) {
  if (!list.is_object()) return;
  for (const auto& [name, amount] : std::as_const(list).as_object()) {
    const std::string_view text = amount.is_string() ? amount.as_string() : std::string_view{};
    if (!text.ends_with('u') && !text.ends_with('n')) continue;
    list[name.view()] =
        Quantity{fmt::format("{}m", Quantity{text}.milli_value())}.canonical().text();
  }
}

void round_resources(Value& owner) {
  within(owner, "resources", [](Value& resources) {
    within(resources, "limits", round_amounts);
    within(resources, "requests", round_amounts);
  });
}

void default_volume_source(Value& volume) {
  within(volume, "hostPath", [](Value& path) { fill(path, "type", ""); });
  within(volume, "iscsi", [](Value& disk) { fill_empty(disk, "iscsiInterface", "default"); });
  within(volume, "rbd", [](Value& disk) {
    fill_empty(disk, "pool", "rbd");
    fill_empty(disk, "user", "admin");
    fill_empty(disk, "keyring", "/etc/ceph/keyring");
  });
  within(volume, "scaleIO", [](Value& disk) {
    fill_empty(disk, "storageMode", "ThinProvisioned");
    fill_empty(disk, "fsType", "xfs");
  });
  within(volume, "azureDisk", [](Value& disk) {
    fill(disk, "cachingMode", "ReadWrite");
    fill(disk, "fsType", "ext4");
    fill(disk, "readOnly", false);
    fill(disk, "kind", "Shared");
  });
}

void default_claim_spec(Value& spec) {
  fill(spec, "volumeMode", "Filesystem");
  round_resources(spec);
}

void default_pod_spec(Value& spec) {
  fill_empty(spec, "restartPolicy", "Always");
  fill(spec, "terminationGracePeriodSeconds", 30);
  fill_empty(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "securityContext", Value::object());
  fill_empty(spec, "schedulerName", "default-scheduler");
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(spec, list, default_container);
  }
  each(spec, "volumes", default_volume);
  round_resources(spec);
  within(spec, "overhead", round_amounts);
  // serviceAccount is a deprecated alias of serviceAccountName.
  const Value alias = std::as_const(spec)["serviceAccount"];
  if (alias.is_string()) fill(spec, "serviceAccountName", alias);
  const Value account = std::as_const(spec)["serviceAccountName"];
  if (account.is_string()) spec["serviceAccount"] = account;
}

void default_pod_template(Value& owner) {
  within(owner, "template", [](Value& shape) { within(shape, "spec", default_pod_spec); });
}

void default_pod(Value& pod) {
  Value& spec = part(pod, "spec");
  default_pod_spec(spec);
  for (const char* list : {"initContainers", "containers"}) each(spec, list, request_limits);
  default_whole_requests(pod);
  fill(spec, "enableServiceLinks", true);
  if (spec.get_integer("terminationGracePeriodSeconds").value_or(0) < 0) {
    spec["terminationGracePeriodSeconds"] = 1;
  }
  if (!(std::as_const(spec)["hostNetwork"] == Value{true})) return;
  for (const char* list : {"initContainers", "containers"}) {
    each(spec, list, [](Value& container) {
      each(container, "ports",
           [](Value& port) { fill_empty(port, "hostPort", std::as_const(port)["containerPort"]); });
    });
  }
}

}  // namespace kube::testkit::detail
