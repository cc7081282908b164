// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/kind_rules.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace kube::testkit::detail {

namespace {

using Names = std::span<const std::string_view>;

bool contains(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::string_view kWithGeneration[] = {
    "pods",
    "replicationcontrollers",
    "podtemplates",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "customresourcedefinitions.apiextensions.k8s.io",
    "poddisruptionbudgets.policy",
    "networkpolicies.networking.k8s.io",
    "ingresses.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "endpointslices.discovery.k8s.io",
    "priorityclasses.scheduling.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "deviceclasses.resource.k8s.io",
    "resourceslices.resource.k8s.io",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"};

constexpr std::string_view kNeedVersion[] = {"customresourcedefinitions.apiextensions.k8s.io",
                                             "apiservices.apiregistration.k8s.io",
                                             "leases.coordination.k8s.io",
                                             "leasecandidates.coordination.k8s.io",
                                             "poddisruptionbudgets.policy",
                                             "runtimeclasses.node.k8s.io",
                                             "csidrivers.storage.k8s.io",
                                             "csinodes.storage.k8s.io",
                                             "volumeattachments.storage.k8s.io",
                                             "clustertrustbundles.certificates.k8s.io"};

constexpr std::string_view kCreatedByUpdate[] = {"leases.coordination.k8s.io",
                                                 "leasecandidates.coordination.k8s.io",
                                                 "endpoints",
                                                 "events",
                                                 "events.events.k8s.io",
                                                 "limitranges",
                                                 "services",
                                                 "runtimeclasses.node.k8s.io",
                                                 "roles.rbac.authorization.k8s.io",
                                                 "rolebindings.rbac.authorization.k8s.io",
                                                 "clusterroles.rbac.authorization.k8s.io",
                                                 "clusterrolebindings.rbac.authorization.k8s.io"};

constexpr std::string_view kReturnedByDelete[] = {"pods",
                                                  "services",
                                                  "namespaces",
                                                  "persistentvolumes",
                                                  "persistentvolumeclaims",
                                                  "serviceaccounts",
                                                  "resourcequotas",
                                                  "podtemplates"};

struct FieldsOfResource {
  std::string_view resource;
  std::vector<std::pair<std::string, std::string>> fields;
};

/// The fields of SL-4 with their paths in the stored object.
const std::vector<FieldsOfResource>& fields_of_resources() {
  static const auto kSame = [](std::initializer_list<const char*> paths) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const char* path : paths) fields.emplace_back(path, path);
    return fields;
  };
  static const auto kReferred = [](const std::string& from) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const char* part :
         {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
      fields.emplace_back(from + '.' + part, std::string{"involvedObject."} + part);
    }
    return fields;
  };
  static const auto kJoined = [](std::vector<std::pair<std::string, std::string>> a,
                                 const std::vector<std::pair<std::string, std::string>>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  static const std::vector<FieldsOfResource> kAll{
      {"pods", kJoined(kSame({"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                              "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                              "status.podIP", "status.nominatedNodeName"}),
                       {{"spec.host", "spec.nodeName"}, {"status.podIPs", ""}})},
      {"nodes", kSame({"spec.unschedulable"})},
      {"namespaces", kSame({"status.phase"})},
      {"secrets", kSame({"type"})},
      {"services", kSame({"spec.clusterIP", "spec.type"})},
      {"replicationcontrollers", kSame({"status.replicas"})},
      {"events",
       kJoined(kReferred("involvedObject"), {{"reason", "reason"},
                                             {"reportingComponent", "reportingComponent"},
                                             {"source", "source.component|reportingComponent"},
                                             {"type", "type"}})},
      {"events.events.k8s.io",
       kJoined(kReferred("regarding"), {{"reason", "reason"},
                                        {"reportingController", "reportingComponent"},
                                        {"type", "type"}})},
      {"jobs.batch", {{"status.successful", "status.succeeded"}}},
      {"certificatesigningrequests.certificates.k8s.io", kSame({"spec.signerName"})},
      {"clustertrustbundles.certificates.k8s.io", kSame({"spec.signerName"})},
      {"podcertificaterequests.certificates.k8s.io",
       kSame({"spec.signerName", "spec.podName", "spec.nodeName"})},
      {"resourceslices.resource.k8s.io", kSame({"spec.nodeName", "spec.driver"})}};
  return kAll;
}

bool same_member(const Value& a, const Value& b, std::string_view member) {
  return a[member] == b[member];
}

}  // namespace

KindRules rules_of(const Resource& resource) {
  if (resource.is_custom()) {
    return {
        .has_generation = true, .has_status = resource.custom->has_status, .needs_version = true};
  }
  const std::string id = resource.id();
  KindRules rules;
  rules.has_generation = contains(kWithGeneration, id);
  rules.has_status = resource.subresource("status") != nullptr;
  rules.needs_version =
      contains(kNeedVersion, id) || resource.group == "admissionregistration.k8s.io";
  rules.created_by_update = contains(kCreatedByUpdate, id);
  rules.deletion_returns_object = contains(kReturnedByDelete, id) ||
                                  resource.group == "storage.k8s.io" ||
                                  resource.group == "resource.k8s.io";
  rules.orphans_by_default = id == "replicationcontrollers" || id == "jobs.batch";
  rules.is_graceful = id == "pods";
  return rules;
}

std::vector<std::pair<std::string, std::string>> selectable_fields(const Resource& resource) {
  std::vector<std::pair<std::string, std::string>> fields{{"metadata.name", "metadata.name"}};
  if (resource.namespaced || !resource.is_custom()) {
    fields.emplace_back("metadata.namespace", "metadata.namespace");
  }
  if (resource.is_custom()) {
    for (const std::string& path : resource.custom->selectable_fields) {
      fields.emplace_back(path, path);
    }
    return fields;
  }
  const std::string id = resource.id();
  for (const FieldsOfResource& known : fields_of_resources()) {
    if (known.resource != id) continue;
    if (!resource.namespaced) fields.pop_back();
    fields.insert(fields.end(), known.fields.begin(), known.fields.end());
  }
  return fields;
}

bool has_own_selectable_fields(const Resource& resource) {
  if (resource.is_custom()) return !resource.custom->selectable_fields.empty();
  const std::string id = resource.id();
  return std::ranges::any_of(fields_of_resources(),
                             [&](const FieldsOfResource& known) { return known.resource == id; });
}

bool spec_differs(const Resource& resource, const Value& live, const Value& next) {
  if (resource.is_custom()) {
    for (const Value* object : {&live, &next}) {
      for (const auto& [name, value] : object->as_object()) {
        if (name == "metadata" || name == "apiVersion" ||
            (name == "status" && resource.custom->has_status)) {
          continue;
        }
        if (!same_member(live, next, name)) return true;
      }
    }
    return false;
  }
  if (resource.id() == "deployments.apps" &&
      !same_member(live["metadata"], next["metadata"], "annotations")) {
    return true;
  }
  if (!live["spec"].is_absent() || !next["spec"].is_absent()) {
    return !same_member(live, next, "spec");
  }
  // For kinds without a spec, everything outside metadata and status counts.
  for (const Value* object : {&live, &next}) {
    for (const auto& [name, value] : object->as_object()) {
      if (name != "metadata" && name != "status" && !same_member(live, next, name)) return true;
    }
  }
  return false;
}

}  // namespace kube::testkit::detail
