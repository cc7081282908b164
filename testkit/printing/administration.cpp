// SPDX-License-Identifier: Apache-2.0
// Columns of quotas, policies, certificates, flow control, devices and other administrative kinds.
#include "testkit/printing/cells.hpp"
#include "testkit/printing/table.hpp"

#include "base/text.hpp"

namespace kube::testkit::detail {

namespace {

using namespace cells;

/// Formats `name: used/hard` for the resources that are limits, or for the others.
std::string quota_text(const Value& quota, bool limits) {
  std::string text;
  const Value& hard = quota["status"]["hard"];
  if (!hard.is_object()) return text;
  for (const auto& [name, value] : hard.as_object()) {
    if (name.view().starts_with("limits.") != limits) continue;
    const Value& used = quota["status"]["used"][name];
    text += fmt::format("{}{}: {}/{}", text.empty() ? "" : ", ", name.view(),
                        used.is_string() ? used.as_string() : "0",
                        value.is_string() ? value.as_string() : "0");
  }
  return text;
}
Value quota_requests(const Value& quota, Time) { return quota_text(quota, false); }
Value quota_limits(const Value& quota, Time) { return quota_text(quota, true); }

const Value* condition_of(const Value& object, std::string_view list, std::string_view type) {
  for (const Value& condition : list_at(object, list)) {
    if (text_member(condition, "type") == type) return &condition;
  }
  return nullptr;
}

Value component_status(const Value& component, Time) {
  const Value* healthy = condition_of(component, "conditions", "Healthy");
  if (healthy == nullptr) return "Unknown";
  return text_member(*healthy, "status") == "True" ? "Healthy" : "Unhealthy";
}
Value component_message(const Value& component, Time) {
  const Value* healthy = condition_of(component, "conditions", "Healthy");
  return healthy == nullptr ? std::string_view{} : text_member(*healthy, "message");
}
Value component_error(const Value& component, Time) {
  const Value* healthy = condition_of(component, "conditions", "Healthy");
  return healthy == nullptr ? std::string_view{} : text_member(*healthy, "error");
}

Value service_of_api(const Value& api, Time) {
  if (!api["spec"]["service"].is_object()) return "Local";
  return fmt::format("{}/{}", text_at(api, "spec.service.namespace"),
                     text_at(api, "spec.service.name"));
}
Value api_available(const Value& api, Time) {
  const Value* available = condition_of(api, "status.conditions", "Available");
  if (available == nullptr) return "Unknown";
  const std::string_view status = text_member(*available, "status");
  const std::string_view reason = text_member(*available, "reason");
  return status == "True" || reason.empty() ? std::string{status}
                                            : fmt::format("{} ({})", status, reason);
}

Value signing_duration(const Value& request, Time) {
  const auto seconds = request.get_integer("spec.expirationSeconds");
  return seconds ? human_duration(std::chrono::seconds{*seconds}) : "<none>";
}
Value signing_state(const Value& request, Time) {
  const auto has = [&](std::string_view type) {
    return condition_of(request, "status.conditions", type) != nullptr;
  };
  std::string state = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) state += ",Failed";
  if (!text_at(request, "status.certificate").empty()) state += ",Issued";
  return state;
}

Value parent_of_address(const Value& address, Time) {
  const Value& parent = address["spec"]["parentRef"];
  if (!parent.is_object()) return "<none>";
  const std::string_view group = text_member(parent, "group");
  std::string text{text_member(parent, "resource")};
  if (!group.empty()) text += fmt::format(".{}", group);
  text = kube::detail::lower_case(text);
  if (!text_member(parent, "namespace").empty()) {
    text += fmt::format("/{}", text_member(parent, "namespace"));
  }
  return fmt::format("{}/{}", text, text_member(parent, "name"));
}
Value cidrs(const Value& range, Time) { return joined(list_at(range, "spec.cidrs"), ""); }

Value driver_attaches(const Value& driver, Time) {
  return !(driver["spec"]["attachRequired"] == Value{false});
}
Value driver_tokens(const Value& driver, Time) {
  if (!driver["spec"]["tokenRequests"].is_array()) return "<unset>";
  return joined(list_at(driver, "spec.tokenRequests"), "audience");
}
Value driver_modes(const Value& driver, Time) {
  const std::string modes = joined(list_at(driver, "spec.volumeLifecycleModes"), "");
  return modes.empty() ? "<none>" : modes;
}

Value policy_parameter_kind(const Value& policy, Time) {
  if (!policy["spec"]["paramKind"].is_object()) return "<unset>";
  return fmt::format("{}/{}", text_at(policy, "spec.paramKind.apiVersion"),
                     text_at(policy, "spec.paramKind.kind"));
}
Value binding_parameter(const Value& binding, Time) {
  const Value& reference = binding["spec"]["paramRef"];
  if (!text_member(reference, "name").empty()) {
    const std::string_view namespace_ = text_member(reference, "namespace");
    return fmt::format("{}/{}", namespace_.empty() ? "*" : namespace_,
                       text_member(reference, "name"));
  }
  return reference["selector"].is_object() ? selector_text(reference["selector"])
                                           : std::string{"<unset>"};
}

Value claim_state(const Value& claim, Time) {
  const bool deleted = !text_at(claim, "metadata.deletionTimestamp").empty();
  std::string state = deleted ? "deleted" : "";
  if (!claim["status"]["allocation"].is_object()) {
    if (!deleted) state = "pending";
    return state;
  }
  state += state.empty() ? "allocated" : ",allocated";
  if (claim["status"]["reservedFor"].size() > 0) state += ",reserved";
  return state;
}

Value flow_is_dangling(const Value& flow, Time) {
  const Value* dangling = condition_of(flow, "status.conditions", "Dangling");
  return dangling == nullptr ? std::string_view{"?"} : text_member(*dangling, "status");
}
template <PathText Path>
Value number_or_none(const Value& object, Time) {
  const auto number = object.get_integer(Path);
  return number ? Value::integer(*number) : Value{"<none>"};
}

constexpr TableColumn kResourceQuota[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Request", "string", quota_requests},
    {"Limit", "string", quota_limits},
    {"Age", "string", age_cell},
};

constexpr TableColumn kComponentStatus[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Status", "string", component_status},
    {"Message", "string", component_message},
    {"Error", "string", component_error},
};

constexpr TableColumn kApiService[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Service", "string", service_of_api},
    {"Available", "string", api_available},
    {"Age", "string", age_cell},
};

constexpr TableColumn kSigningRequest[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Age", "string", age_cell},
    {"SignerName", "string", text_else<"spec.signerName", "<none>">},
    {"Requestor", "string", text<"spec.username">},
    {"RequestedDuration", "string", signing_duration},
    {"Condition", "string", signing_state},
};

constexpr TableColumn kIpAddress[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"ParentRef", "string", parent_of_address},
};

constexpr TableColumn kServiceCidr[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"CIDRs", "string", cidrs},
    {"Age", "string", age_cell},
};

constexpr TableColumn kCsiDriver[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"AttachRequired", "boolean", driver_attaches},
    {"PodInfoOnMount", "boolean", boolean<"spec.podInfoOnMount">},
    {"StorageCapacity", "boolean", boolean<"spec.storageCapacity">},
    {"TokenRequests", "string", driver_tokens},
    {"RequiresRepublish", "boolean", boolean<"spec.requiresRepublish">},
    {"Modes", "string", driver_modes},
    {"Age", "string", age_cell},
};

constexpr TableColumn kVolumeAttributesClass[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"DriverName", "string", text<"driverName">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kMutatingPolicy[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Mutations", "integer", count<"spec.mutations">},
    {"ParamKind", "string", policy_parameter_kind},
    {"Age", "string", age_cell},
};

constexpr TableColumn kValidatingPolicy[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Validations", "integer", count<"spec.validations">},
    {"ParamKind", "string", policy_parameter_kind},
    {"Age", "string", age_cell},
};

constexpr TableColumn kPolicyBinding[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"PolicyName", "string", text<"spec.policyName">},
    {"ParamRef", "string", binding_parameter},
    {"Age", "string", age_cell},
};

constexpr TableColumn kNameAndAge[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Age", "string", age_cell},
};

constexpr TableColumn kResourceClaim[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"State", "string", claim_state},
    {"Age", "string", age_cell},
};

constexpr TableColumn kResourceSlice[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Node", "string", text<"spec.nodeName">},
    {"Driver", "string", text<"spec.driver">},
    {"Pool", "string", text<"spec.pool.name">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kFlowSchema[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"PriorityLevel", "string", text<"spec.priorityLevelConfiguration.name">},
    {"MatchingPrecedence", "string", number<"spec.matchingPrecedence">},
    {"DistinguisherMethod", "string", text_else<"spec.distinguisherMethod.type", "<none>">},
    {"Age", "string", age_cell},
    {"MissingPL", "string", flow_is_dangling},
};

constexpr TableColumn kPriorityLevel[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Type", "string", text<"spec.type">},
    {"NominalConcurrencyShares", "string", number_or_none<"spec.limited.nominalConcurrencyShares">},
    {"Queues", "string", number_or_none<"spec.limited.limitResponse.queuing.queues">},
    {"HandSize", "string", number_or_none<"spec.limited.limitResponse.queuing.handSize">},
    {"QueueLengthLimit", "string",
     number_or_none<"spec.limited.limitResponse.queuing.queueLengthLimit">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kScale[] = {
    {"Name", "string", name_cell},
    {"Desired", "integer", number<"spec.replicas">},
    {"Available", "integer", number<"status.replicas">},
    {"Age", "string", age_cell},
};

constexpr Table kTables[] = {
    {"", "ResourceQuota", kResourceQuota},
    {"", "ComponentStatus", kComponentStatus},
    {"apiregistration.k8s.io", "APIService", kApiService},
    {"certificates.k8s.io", "CertificateSigningRequest", kSigningRequest},
    {"networking.k8s.io", "IPAddress", kIpAddress},
    {"networking.k8s.io", "ServiceCIDR", kServiceCidr},
    {"storage.k8s.io", "CSIDriver", kCsiDriver},
    {"storage.k8s.io", "VolumeAttributesClass", kVolumeAttributesClass},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy", kMutatingPolicy},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", kPolicyBinding},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", kValidatingPolicy},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", kPolicyBinding},
    {"resource.k8s.io", "DeviceClass", kNameAndAge},
    {"resource.k8s.io", "ResourceClaim", kResourceClaim},
    {"resource.k8s.io", "ResourceClaimTemplate", kNameAndAge},
    {"resource.k8s.io", "ResourceSlice", kResourceSlice},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", kFlowSchema},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", kPriorityLevel},
    {"autoscaling", "Scale", kScale},
};

}  // namespace

std::span<const TableColumn> administration_columns(std::string_view group, std::string_view kind) {
  for (const Table& table : kTables) {
    if (table.group == group && table.kind == kind) return table.columns;
  }
  return {};
}

}  // namespace kube::testkit::detail
