// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/cells.hpp"

#include "base/text.hpp"

#include <set>

namespace kube::testkit::detail {

namespace {

using namespace cells;

// Nodes, namespaces, configuration

Value node_status(const Value& node, Time) {
  std::string status = "Unknown";
  for (const Value& condition : list_at(node, "status.conditions")) {
    if (text_member(condition, "type") != "Ready") continue;
    status = text_member(condition, "status") == "True" ? "Ready" : "NotReady";
  }
  return bool_at(node, "spec.unschedulable") ? status + ",SchedulingDisabled" : status;
}

Value node_roles(const Value& node, Time) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  if (const Value* labels = node.find("metadata.labels");
      labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->as_object()) {
      if (key.view().starts_with(kPrefix) && key.view().size() > kPrefix.size()) {
        roles.emplace(key.view().substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && value.is_string() && !value.as_string().empty()) {
        roles.emplace(value.as_string());
      }
    }
  }
  return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

std::string node_address(const Value& node, std::string_view type) {
  for (const Value& address : list_at(node, "status.addresses")) {
    if (text_member(address, "type") == type) return std::string{text_member(address, "address")};
  }
  return "<none>";
}
Value node_internal(const Value& node, Time) { return node_address(node, "InternalIP"); }
Value node_external(const Value& node, Time) { return node_address(node, "ExternalIP"); }
Value node_kernel(const Value& node, Time) {
  const std::string_view architecture = text_at(node, "status.nodeInfo.architecture");
  std::string kernel = text_or(node, "status.nodeInfo.kernelVersion", "<unknown>");
  return architecture.empty() ? kernel : fmt::format("{} ({})", kernel, architecture);
}

Value data_count(const Value& object, Time) {
  return Value::integer(
      static_cast<std::int64_t>(object["data"].size() + object["binaryData"].size()));
}

/// Returns a field of an event by its name in core/v1 or in events.k8s.io/v1.
std::string_view event_text(const Value& event, std::string_view core, std::string_view events) {
  const std::string_view found = text_at(event, core);
  return found.empty() ? text_at(event, events) : found;
}
Value event_first_seen(const Value& event, Time now) {
  const std::string_view first = event_text(event, "firstTimestamp", "deprecatedFirstTimestamp");
  return since_text(first.empty() ? text_at(event, "eventTime") : first, now);
}
Value event_last_seen(const Value& event, Time now) {
  if (event["series"].is_object()) return since(event, "series.lastObservedTime", now);
  const std::string_view last = event_text(event, "lastTimestamp", "deprecatedLastTimestamp");
  return last.empty() ? event_first_seen(event, now) : Value{since_text(last, now)};
}
Value event_object(const Value& event, Time) {
  const std::string kind =
      kube::detail::lower_case(event_text(event, "involvedObject.kind", "regarding.kind"));
  const std::string_view name = event_text(event, "involvedObject.name", "regarding.name");
  return name.empty() ? kind : fmt::format("{}/{}", kind, name);
}
Value event_subobject(const Value& event, Time) {
  return event_text(event, "involvedObject.fieldPath", "regarding.fieldPath");
}
Value event_source(const Value& event, Time) {
  std::string_view component = event_text(event, "source.component", "deprecatedSource.component");
  std::string_view instance = event_text(event, "source.host", "deprecatedSource.host");
  if (component.empty()) component = event_text(event, "reportingComponent", "reportingController");
  if (instance.empty()) instance = text_at(event, "reportingInstance");
  return instance.empty() ? std::string{component} : fmt::format("{}, {}", component, instance);
}
Value event_message(const Value& event, Time) {
  std::string_view message = event_text(event, "message", "note");
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  message.remove_prefix(std::min(message.find_first_not_of(kSpace), message.size()));
  return message.substr(0, message.find_last_not_of(kSpace) + 1);
}
Value event_count(const Value& event, Time) {
  if (event["series"].is_object()) return Value::integer(number_at(event, "series.count"));
  const std::int64_t count =
      std::max(number_at(event, "count"), number_at(event, "deprecatedCount"));
  return Value::integer(count == 0 ? 1 : count);
}

// Storage

std::string access_modes(const List<Value>& modes) {
  static constexpr struct {
    std::string_view mode;
    std::string_view text;
  } kModes[] = {{"ReadWriteOnce", "RWO"},
                {"ReadOnlyMany", "ROX"},
                {"ReadWriteMany", "RWX"},
                {"ReadWriteOncePod", "RWOP"}};
  Texts texts;
  for (const auto& known : kModes) {
    const bool has = std::ranges::any_of(
        modes, [&](const Value& m) { return m.is_string() && m.as_string() == known.mode; });
    if (has) texts.emplace_back(known.text);
  }
  return fmt::format("{}", fmt::join(texts, ","));
}
Value phase_or_terminating(const Value& object, Time) {
  return text_at(object, "metadata.deletionTimestamp").empty() ? text_at(object, "status.phase")
                                                               : "Terminating";
}
Value volume_capacity(const Value& volume, Time) {
  return text_or(volume, "spec.capacity.storage", "0");
}
Value volume_modes(const Value& volume, Time) {
  return access_modes(list_at(volume, "spec.accessModes"));
}
Value volume_claim(const Value& volume, Time) {
  if (!volume["spec"]["claimRef"].is_object()) return "";
  return fmt::format("{}/{}", text_at(volume, "spec.claimRef.namespace"),
                     text_at(volume, "spec.claimRef.name"));
}
Value claim_capacity(const Value& claim, Time) {
  if (text_at(claim, "spec.volumeName").empty()) return "";
  return text_or(claim, "status.capacity.storage", "0");
}
Value claim_modes(const Value& claim, Time) {
  if (text_at(claim, "spec.volumeName").empty()) return "";
  return access_modes(list_at(claim, "status.accessModes"));
}
Value storage_class_name(const Value& object, Time) {
  const bool is_default =
      is_default_class(object, "storageclass.kubernetes.io/is-default-class") ||
      is_default_class(object, "storageclass.beta.kubernetes.io/is-default-class");
  return fmt::format("{}{}", text_at(object, "metadata.name"), is_default ? " (default)" : "");
}

// Access

Value binding_role(const Value& binding, Time) {
  return fmt::format("{}/{}", text_at(binding, "roleRef.kind"), text_at(binding, "roleRef.name"));
}
std::string subjects(const Value& binding, std::string_view kind) {
  Texts texts;
  for (const Value& subject : list_at(binding, "subjects")) {
    if (text_member(subject, "kind") != kind) continue;
    const std::string_view name = text_member(subject, "name");
    texts.push_back(kind == "ServiceAccount"
                        ? fmt::format("{}/{}", text_member(subject, "namespace"), name)
                        : std::string{name});
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}
Value binding_users(const Value& binding, Time) { return subjects(binding, "User"); }
Value binding_groups(const Value& binding, Time) { return subjects(binding, "Group"); }
Value binding_accounts(const Value& binding, Time) { return subjects(binding, "ServiceAccount"); }

constexpr TableColumn kNode[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Status", "string", node_status},
    {"Roles", "string", node_roles},
    {"Age", "string", age_cell},
    {"Version", "string", text<"status.nodeInfo.kubeletVersion">},
    {"Internal-IP", "string", node_internal, 1},
    {"External-IP", "string", node_external, 1},
    {"OS-Image", "string", text_else<"status.nodeInfo.osImage", "<unknown>">, 1},
    {"Kernel-Version", "string", node_kernel, 1},
    {"Container-Runtime", "string",
     text_else<"status.nodeInfo.containerRuntimeVersion", "<unknown>">, 1},
};

constexpr TableColumn kNamespace[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Status", "string", text<"status.phase">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kConfigMap[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Data", "string", data_count},
    {"Age", "string", age_cell},
};

constexpr TableColumn kSecret[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Type", "string", text<"type">},
    {"Data", "string", count<"data">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kServiceAccount[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Age", "string", age_cell},
};

constexpr TableColumn kEvent[] = {
    {"Last Seen", "string", event_last_seen},    {"Type", "string", text<"type">},
    {"Reason", "string", text<"reason">},        {"Object", "string", event_object},
    {"Subobject", "string", event_subobject, 1}, {"Source", "string", event_source, 1},
    {"Message", "string", event_message},        {"First Seen", "string", event_first_seen, 1},
    {"Count", "string", event_count, 1},         {"Name", "string", name_cell, 1, "name"},
};

constexpr TableColumn kLease[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Holder", "string", text<"spec.holderIdentity">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kPersistentVolume[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Capacity", "string", volume_capacity},
    {"Access Modes", "string", volume_modes},
    {"Reclaim Policy", "string", text<"spec.persistentVolumeReclaimPolicy">},
    {"Status", "string", phase_or_terminating},
    {"Claim", "string", volume_claim},
    {"StorageClass", "string", text<"spec.storageClassName">},
    {"VolumeAttributesClass", "string", text_else<"spec.volumeAttributesClassName", "<unset>">},
    {"Reason", "string", text<"status.reason">},
    {"Age", "string", age_cell},
    {"VolumeMode", "string", text_else<"spec.volumeMode", "<unset>">, 1},
};

constexpr TableColumn kPersistentVolumeClaim[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Status", "string", phase_or_terminating},
    {"Volume", "string", text<"spec.volumeName">},
    {"Capacity", "string", claim_capacity},
    {"Access Modes", "string", claim_modes},
    {"StorageClass", "string", text<"spec.storageClassName">},
    {"VolumeAttributesClass", "string", text_else<"spec.volumeAttributesClassName", "<unset>">},
    {"Age", "string", age_cell},
    {"VolumeMode", "string", text_else<"spec.volumeMode", "<unset>">, 1},
};

constexpr TableColumn kStorageClass[] = {
    {"Name", "string", storage_class_name, 0, "name"},
    {"Provisioner", "string", text<"provisioner">},
    {"ReclaimPolicy", "string", text_else<"reclaimPolicy", "Delete">},
    {"VolumeBindingMode", "string", text_else<"volumeBindingMode", "Immediate">},
    {"AllowVolumeExpansion", "string", boolean<"allowVolumeExpansion">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kVolumeAttachment[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Attacher", "string", text<"spec.attacher">, 0, "name"},
    {"PV", "string", text<"spec.source.persistentVolumeName">},
    {"Node", "string", text<"spec.nodeName">},
    {"Attached", "boolean", boolean<"status.attached">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kCSINode[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Drivers", "integer", count<"spec.drivers">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kBinding[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Role", "string", binding_role},
    {"Age", "string", age_cell},
    {"Users", "string", binding_users, 1},
    {"Groups", "string", binding_groups, 1},
    {"ServiceAccounts", "string", binding_accounts, 1},
};

constexpr TableColumn kPriorityClass[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Value", "integer", number<"value">},
    {"Global-Default", "boolean", boolean<"globalDefault">},
    {"Age", "string", age_cell},
    {"PreemptionPolicy", "string", text<"preemptionPolicy">},
};

constexpr TableColumn kRuntimeClass[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Handler", "string", text<"handler">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kWebhookConfiguration[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Webhooks", "integer", count<"webhooks">},
    {"Age", "string", age_cell},
};

constexpr Table kTables[] = {
    {"", "Node", kNode},
    {"", "Namespace", kNamespace},
    {"", "ConfigMap", kConfigMap},
    {"", "Secret", kSecret},
    {"", "ServiceAccount", kServiceAccount},
    {"", "Event", kEvent},
    {"", "PersistentVolume", kPersistentVolume},
    {"", "PersistentVolumeClaim", kPersistentVolumeClaim},
    {"events.k8s.io", "Event", kEvent},
    {"coordination.k8s.io", "Lease", kLease},
    {"storage.k8s.io", "StorageClass", kStorageClass},
    {"storage.k8s.io", "VolumeAttachment", kVolumeAttachment},
    {"storage.k8s.io", "CSINode", kCSINode},
    {"rbac.authorization.k8s.io", "RoleBinding", kBinding},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", kBinding},
    {"scheduling.k8s.io", "PriorityClass", kPriorityClass},
    {"node.k8s.io", "RuntimeClass", kRuntimeClass},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", kWebhookConfiguration},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", kWebhookConfiguration},
};

}  // namespace

std::span<const TableColumn> cluster_columns(std::string_view group, std::string_view kind) {
  for (const Table& table : kTables) {
    if (table.group == group && table.kind == kind) return table.columns;
  }
  return {};
}

}  // namespace kube::testkit::detail
