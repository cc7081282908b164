// SPDX-License-Identifier: Apache-2.0
// Validates the metadata of any object, and maps built-in kinds to their validation functions.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "testkit/kinds/crd_registry.hpp"
#include "testkit/kinds/kind_rules.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kMaxAnnotations = 262144;

Problems name_problems(const Resource& resource, std::string_view name) {
  const std::string id = resource.id();
  if (resource.group == "rbac.authorization.k8s.io" || resource.plural == "events" ||
      id == "poddisruptionbudgets.policy" || id == "apiservices.apiregistration.k8s.io") {
    return path_segment_problems(name);
  }
  if (id == "namespaces" || id == "services" || id == "statefulsets.apps") {
    return dns1123_label_problems(name);
  }
  if (id == "ipaddresses.networking.k8s.io") return canonical_ip_problems(name);
  return dns1123_subdomain_problems(name);
}

/// Checks a generateName prefix. It may end in a dash because the server appends characters.
void check_prefix(const Resource& resource, const Field& prefix) {
  if (prefix.text().empty()) return;
  std::string name{prefix.text()};
  if (name.size() > 1 && name.back() == '-') name.back() = 'a';
  for (const std::string& problem : name_problems(resource, name)) prefix.invalid(problem);
}

void check_owner_references(const Field& references) {
  std::string controller;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Value& reference = references.value()[i];
    for (const char* member : {"apiVersion", "kind", "name", "uid"}) {
      // The path of each error names the list only.
      const Field part = references[member].with(reference[member]);
      if (part.text().empty()) {
        part.invalid("", member == std::string_view{"apiVersion"} ? "version must not be empty"
                                                                  : "must not be empty");
      }
    }
    const std::string_view kind = reference.get_string("kind").value_or("");
    if (reference["apiVersion"] == Value{"v1"} && kind == "Event") {
      references.invalid(reference, "/v1, Kind=Event is disallowed from being an owner");
    }
    if (reference["controller"] != Value{true}) continue;
    const std::string name = fmt::format("{}/{}", kind, reference.get_string("name").value_or(""));
    if (!controller.empty()) {
      references.invalid(
          fmt::format("Only one reference can have Controller set to true. Found "
                      "\"true\" in references for {} and {}",
                      controller, name));
    } else {
      controller = name;
    }
  }
}

/// Checks a finalizer of a built-in kind: a name with a domain, or one of three standard names.
void check_builtin_finalizer(const Field& finalizer) {
  const std::string_view name = finalizer.text();
  if (name.find('/') == std::string_view::npos && name != "kubernetes" && name != "orphan" &&
      name != "foregroundDeletion") {
    finalizer.invalid(name, "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void check_finalizers(const Field& finalizers, bool builtin) {
  bool orphan = false;
  bool foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const Field finalizer = finalizers.at(i);
    orphan = orphan || finalizer.is("orphan");
    foreground = foreground || finalizer.is("foregroundDeletion");
    for (const std::string& problem : qualified_name_problems(finalizer.text())) {
      finalizers.invalid(finalizer.value(), problem);
    }
    if (builtin) check_builtin_finalizer(finalizer);
  }
  if (orphan && foreground) {
    finalizers.invalid("finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void check_annotations(const Field& annotations) {
  if (!annotations.value().is_object()) return;
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.value().as_object()) {
    // The domain of an annotation key may contain upper-case letters.
    std::string lower{key.view()};
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const std::string& problem : qualified_name_problems(lower)) {
      annotations.invalid(key, problem);
    }
    size += key.size() + (value.is_string() ? value.as_string().size() : 0);
  }
  if (size > kMaxAnnotations) {
    annotations.errors().add(too_long(annotations.path(), kMaxAnnotations));
  }
}

void validate_definition_object(const Field& object, const Value* live) {
  for (FieldError& error : validate_definition(object.value(), live)) {
    object.errors().add(std::move(error));
  }
}

struct KindValidation {
  Validator validate;
  /// Validates even if only metadata or status has changed.
  bool always = false;
};

const std::map<std::string, KindValidation, std::less<>>& validations() {
  static const std::map<std::string, KindValidation, std::less<>> kAll{
      {"configmaps", {validate_config_map}},
      {"secrets", {validate_secret}},
      {"namespaces", {validate_namespace, true}},
      {"nodes", {validate_node, true}},
      {"endpoints", {validate_endpoints}},
      {"events", {validate_event}},
      {"events.events.k8s.io", {validate_modern_event}},
      {"services", {validate_service}},
      {"pods", {validate_pod}},
      {"podtemplates", {validate_pod_template}},
      {"replicationcontrollers", {validate_replication_controller}},
      {"persistentvolumes", {validate_persistent_volume}},
      {"persistentvolumeclaims", {validate_persistent_volume_claim}},
      {"resourcequotas", {validate_resource_quota}},
      {"limitranges", {validate_limit_range}},
      {"deployments.apps", {validate_deployment}},
      {"replicasets.apps", {validate_replica_set}},
      {"statefulsets.apps", {validate_stateful_set}},
      {"daemonsets.apps", {validate_daemon_set}},
      {"controllerrevisions.apps", {validate_controller_revision}},
      {"jobs.batch", {validate_job, true}},
      {"cronjobs.batch", {validate_cron_job}},
      {"horizontalpodautoscalers.autoscaling", {validate_autoscaler}},
      {"poddisruptionbudgets.policy", {validate_disruption_budget}},
      {"ingresses.networking.k8s.io", {validate_ingress}},
      {"ingressclasses.networking.k8s.io", {validate_ingress_class}},
      {"networkpolicies.networking.k8s.io", {validate_network_policy}},
      {"servicecidrs.networking.k8s.io", {validate_service_cidr}},
      {"ipaddresses.networking.k8s.io", {validate_ip_address}},
      {"endpointslices.discovery.k8s.io", {validate_endpoint_slice}},
      {"roles.rbac.authorization.k8s.io", {validate_role}},
      {"clusterroles.rbac.authorization.k8s.io", {validate_cluster_role}},
      {"rolebindings.rbac.authorization.k8s.io", {validate_role_binding}},
      {"clusterrolebindings.rbac.authorization.k8s.io", {validate_cluster_role_binding}},
      {"storageclasses.storage.k8s.io", {validate_storage_class}},
      {"csidrivers.storage.k8s.io", {validate_csi_driver}},
      {"csinodes.storage.k8s.io", {validate_csi_node}},
      {"csistoragecapacities.storage.k8s.io", {validate_csi_storage_capacity}},
      {"volumeattachments.storage.k8s.io", {validate_volume_attachment}},
      {"volumeattributesclasses.storage.k8s.io", {validate_volume_attributes_class}},
      {"priorityclasses.scheduling.k8s.io", {validate_priority_class}},
      {"runtimeclasses.node.k8s.io", {validate_runtime_class}},
      {"leases.coordination.k8s.io", {validate_lease}},
      {"deviceclasses.resource.k8s.io", {validate_device_class}},
      {"resourceclaims.resource.k8s.io", {validate_resource_claim}},
      {"resourceclaimtemplates.resource.k8s.io", {validate_resource_claim_template}},
      {"resourceslices.resource.k8s.io", {validate_resource_slice}},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io",
       {validate_webhook_configuration}},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io",
       {validate_webhook_configuration}},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", {validate_admission_policy}},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", {validate_admission_policy}},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       {validate_admission_policy_binding}},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
       {validate_admission_policy_binding}},
      {"flowschemas.flowcontrol.apiserver.k8s.io", {validate_flow_schema}},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", {validate_priority_level}},
      {"certificatesigningrequests.certificates.k8s.io", {validate_signing_request, true}},
      {"apiservices.apiregistration.k8s.io", {validate_api_service}},
      {"customresourcedefinitions.apiextensions.k8s.io", {validate_definition_object, true}}};
  return kAll;
}

/// Returns whether an update does not touch the fields that the kind validates.
bool only_metadata_or_status_differs(const Value& object, const Value& live) {
  for (const Value* one : {&object, &live}) {
    for (const auto& [name, value] : one->as_object()) {
      if (name != "metadata" && name != "status" && !(object[name] == live[name])) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<FieldError> validate_metadata(const Resource& resource, const Value& object) {
  FieldErrors errors;
  const Field metadata = errors.root(object)["metadata"];
  const Field name = metadata["name"];
  check_prefix(resource, metadata["generateName"]);
  if (name.text().empty()) {
    name.required("name or generateName is required");
  } else {
    for (const std::string& problem : name_problems(resource, name.text())) name.invalid(problem);
  }
  check_labels(metadata["labels"]);
  check_annotations(metadata["annotations"]);
  check_owner_references(metadata["ownerReferences"]);
  check_finalizers(metadata["finalizers"],
                   !resource.is_custom() && resource.group != "apiextensions.k8s.io" &&
                       resource.plural != "poddisruptionbudgets" && resource.plural != "events" &&
                       resource.plural != "leases");
  return errors.take();
}

std::vector<FieldError> validate_builtin(const Resource& resource, const Value& object,
                                         const Value* live) {
  const auto found = validations().find(resource.id());
  if (found == validations().end()) return {};
  const KindValidation& kind = found->second;
  FieldErrors errors;
  if (live == nullptr) {
    kind.validate(errors.root(object), nullptr);
    return errors.take();
  }
  // The status of a stored object stays writable even if its spec is invalid by current rules.
  if (only_metadata_or_status_differs(object, *live)) {
    if (kind.always) kind.validate(errors.root(object), live);
    return errors.take();
  }
  // A stored object may lack defaults; filling them in is not a change.
  Value before = *live;
  apply_builtin_defaults(resource, before);
  if (!kind.always && only_metadata_or_status_differs(object, before)) return {};
  kind.validate(errors.root(object), &before);
  return errors.take();
}

}  // namespace kube::testkit::detail
