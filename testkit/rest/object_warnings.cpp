// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/object_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "testkit/validation/field_check.hpp"
#include "testkit/validation/name_rules.hpp"
#include "testkit/validation/pods.hpp"

namespace kube::testkit::detail {

namespace {

using Warnings = std::vector<std::string>;

struct Replacement {
  std::string_view key;
  std::string_view text;
};

constexpr std::array<Replacement, 6> kNodeLabels{
    {{"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
     {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
     {"failure-domain.beta.kubernetes.io/region",
      "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
     {"failure-domain.beta.kubernetes.io/zone",
      "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
     {"beta.kubernetes.io/instance-type",
      "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
     {"kubernetes.io/instance-type",
      "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"}}};

constexpr std::array<Replacement, 3> kVolumes{
    {{"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
     {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
     {"rbd", "deprecated in v1.28, non-functional in v1.31+"}}};

/// Annotations of pods and templates; a key that ends in '/' is a prefix.
constexpr std::array<Replacement, 4> kAnnotations{
    {{"scheduler.alpha.kubernetes.io/critical-pod",
      "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
     {"seccomp.security.alpha.kubernetes.io/pod",
      "non-functional in v1.27+; use the \"seccompProfile\" field instead"},
     {"container.seccomp.security.alpha.kubernetes.io/",
      "non-functional in v1.27+; use the \"seccompProfile\" field instead"},
     {"container.apparmor.security.beta.kubernetes.io/",
      "deprecated since v1.30; use the \"appArmorProfile\" field instead"}}};

void warn(Warnings& warnings, const Field& field, std::string_view text) {
  warnings.push_back(fmt::format("{}: {}", field.path(), text));
}

void warn_of_fraction(Warnings& warnings, const Field& amounts, std::string_view name) {
  const auto amount = quantity_of(amounts.value()[name]);
  if (!amount || *amount == Quantity{std::to_string(amount->value())}) return;
  warn(warnings, amounts.key(name),
       fmt::format("fractional byte value \"{}\" is invalid, must be an integer", amount->text()));
}

void warn_about_container(Warnings& warnings, const Field& container) {
  std::map<std::string_view, std::size_t> variables;
  for (std::size_t i = 0; i < container["env"].size(); ++i) {
    const Field variable = container["env"].at(i);
    if (!variables.emplace(variable["name"].text(), i).second) {
      warn(warnings, variable,
           fmt::format("hides previous definition of \"{}\", which may be dropped when using apply",
                       variable["name"].text()));
    }
  }
  std::map<std::pair<std::string_view, std::int64_t>, std::string> ports;
  for (std::size_t i = 0; i < container["ports"].size(); ++i) {
    const Field port = container["ports"].at(i);
    const auto [first, is_new] = ports.emplace(
        std::pair{port["protocol"].text(), port["containerPort"].number().value_or(0)},
        port.path());
    if (!is_new) warn(warnings, port, "duplicate port definition with " + first->second);
  }
  for (const char* kind : {"limits", "requests"}) {
    for (const char* resource : {"memory", "ephemeral-storage"}) {
      warn_of_fraction(warnings, container["resources"][kind], resource);
    }
  }
}

void warn_about_annotations(Warnings& warnings, const Field& annotations) {
  if (!annotations.value().is_object()) return;
  for (const auto& [key, value] : annotations.value().as_object()) {
    for (const Replacement& known : kAnnotations) {
      if (known.key.ends_with('/') ? key.view().starts_with(known.key) : key == known.key) {
        warn(warnings, annotations.key(key), known.text);
      }
    }
  }
}

void warn_about_pod(Warnings& warnings, const Field& metadata, const Field& spec) {
  warn_about_annotations(warnings, metadata["annotations"]);
  for (const Replacement& label : kNodeLabels) {
    if (!spec["nodeSelector"].value()[label.key].is_absent()) {
      warn(warnings, spec["nodeSelector"].key(label.key), label.text);
    }
  }
  std::map<std::string_view, std::size_t> addresses;
  for (std::size_t i = 0; i < spec["hostAliases"].size(); ++i) {
    const Field ip = spec["hostAliases"].at(i)["ip"];
    if (!addresses.emplace(ip.text(), i).second) {
      warn(warnings, ip, fmt::format("duplicate ip \"{}\"", ip.text()));
    }
  }
  for (std::size_t i = 0; i < spec["imagePullSecrets"].size(); ++i) {
    const Field name = spec["imagePullSecrets"].at(i)["name"];
    if (name.text().empty()) warn(warnings, name, "invalid empty name \"\"");
  }
  for (std::size_t i = 0; i < spec["volumes"].size(); ++i) {
    for (const Replacement& volume : kVolumes) {
      const Field source = spec["volumes"].at(i)[volume.key];
      if (source.is_set()) warn(warnings, source, volume.text);
    }
  }
  for (std::size_t i = 0; i < spec["topologySpreadConstraints"].size(); ++i) {
    const Field selector = spec["topologySpreadConstraints"].at(i)["labelSelector"];
    if (!selector.is_set()) {
      warn(warnings, selector, "a null labelSelector results in matching no pod");
    }
  }
  for (const char* list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      warn_about_container(warnings, spec[list].at(i));
    }
  }
}

/// Warns about names that are not valid host names.
void warn_about_name(Warnings& warnings, const Field& name, std::string_view use) {
  const Problems problems = dns1123_label_problems(name.text());
  if (problems.empty()) return;
  warn(warnings, name,
       fmt::format("this is used in {}, which can result in surprising behavior; a DNS label is "
                   "recommended: [{}]",
                   use, fmt::join(problems, " ")));
}

void warn_about_template(Warnings& warnings, const Field& shape) {
  warn_about_pod(warnings, shape["metadata"], shape["spec"]);
}

void warn_about_volume(Warnings& warnings, const Field& object) {
  static constexpr std::string_view kClass = "volume.beta.kubernetes.io/storage-class";
  const Field annotations = object["metadata"]["annotations"];
  if (!annotations.value()[kClass].is_absent()) {
    warn(warnings, annotations.key(kClass),
         "deprecated since v1.8; use \"storageClassName\" attribute instead");
  }
  const Field reclaim = object["spec"]["persistentVolumeReclaimPolicy"];
  if (reclaim.is("Recycle")) {
    warn(warnings, reclaim,
         "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use "
         "dynamic provisioning.");
  }
  warn_of_fraction(warnings, object["spec"]["resources"]["requests"], "storage");
  warn_of_fraction(warnings, object["spec"]["capacity"], "storage");
}

void warn_about_others(Warnings& warnings, const std::string& id, const Field& object,
                       bool is_new) {
  const Value& annotations = object["metadata"]["annotations"].value();
  if (id == "ingresses.networking.k8s.io" && is_new &&
      !annotations["kubernetes.io/ingress.class"].is_absent()) {
    warnings.emplace_back(
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
        "'spec.ingressClassName' instead");
  } else if (id == "nodes" && !object["spec"]["externalID"].text().empty()) {
    warn(warnings, object["spec"]["externalID"],
         "this field is deprecated, and is unused by Kubernetes");
  } else if (id == "serviceaccounts" &&
             !annotations["kubernetes.io/enforce-mountable-secrets"].is_absent()) {
    warn(warnings, object["metadata"]["annotations"].key("kubernetes.io/enforce-mountable-secrets"),
         "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets");
  }
}

}  // namespace

std::string deprecation_of(const Resource& resource) {
  if (!resource.group.empty()) return {};
  if (resource.plural == "endpoints") {
    return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  }
  if (resource.plural == "componentstatuses") return "v1 ComponentStatus is deprecated in v1.19+";
  return {};
}

std::vector<std::string> warnings_about(const Resource& resource, const Value& object,
                                        const Value* live) {
  Warnings warnings;
  if (live != nullptr && object["spec"] == (*live)["spec"]) return warnings;
  FieldErrors fields;
  const Field root = fields.root(object);
  const Field name = root["metadata"]["name"];
  const std::string id = resource.id();
  const bool is_new = live == nullptr;
  if (id == "pods") {
    if (is_new) warn_about_name(warnings, name, "the Pod's hostname");
    warn_about_pod(warnings, root["metadata"], root["spec"]);
  } else if (id == "podtemplates") {
    warn_about_template(warnings, root["template"]);
  } else if (id == "cronjobs.batch") {
    if (is_new) warn_about_name(warnings, name, "Pod names and hostnames");
    warn_about_template(warnings, root["spec"]["jobTemplate"]["spec"]["template"]);
  } else if (resource.group == "apps" || id == "jobs.batch" || id == "replicationcontrollers") {
    if (is_new && id != "daemonsets.apps" && id != "controllerrevisions.apps") {
      warn_about_name(warnings, name, "Pod names and hostnames");
    }
    warn_about_template(warnings, root["spec"]["template"]);
    const Field history = root["spec"]["revisionHistoryLimit"];
    if (id == "statefulsets.apps" && history.number().value_or(0) < 0) {
      warn(warnings, history,
           "a negative value retains all historical revisions; a value >= 0 is recommended");
    }
  } else if (id == "persistentvolumes" || id == "persistentvolumeclaims") {
    warn_about_volume(warnings, root);
  } else {
    warn_about_others(warnings, id, root, is_new);
  }
  return warnings;
}

}  // namespace kube::testkit::detail
