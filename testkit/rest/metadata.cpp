// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "testkit/cel/rules.hpp"
#include "testkit/cluster/signing_requests.hpp"
#include "testkit/defaults/value_defaults.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

/// Copies `member` of `from`, or its absence.
void take_over(Value& to, const Value& from, std::string_view member) {
  if (from[member].is_absent()) {
    to.erase(member);
  } else {
    to[member] = from[member];
  }
}

}  // namespace

std::string metadata_text(const Value& object, std::string_view field) {
  const Value& value = object["metadata"][field];
  return value.is_string() ? std::string{value.as_string()} : std::string{};
}

std::string member_text(const Value& object, std::string_view path) {
  return std::string{object.get_string(path).value_or("")};
}

void set_namespace(const RestRequest& request, Value& object) {
  if (!std::as_const(object)["metadata"].is_object()) object["metadata"] = Value::object();
  if (!request.resource->namespaced) {
    object["metadata"].erase("namespace");
    return;
  }
  const std::string given = metadata_text(object, "namespace");
  if (!given.empty() && given != request.namespace_) {
    throw bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  object["metadata"]["namespace"] = request.namespace_;
}

void check_update_version(const Resource& resource, const Value& object) {
  const std::string version = metadata_text(object, "resourceVersion");
  if (!version.empty() && !parse_version(version)) throw malformed_version(version);
  if ((version.empty() || version == "0") && rules_of(resource).needs_version) {
    throw invalid({resource.group, resource.plural}, metadata_text(object, "name"),
                  invalid_value("metadata.resourceVersion", 0, "must be specified for an update"));
  }
}

std::vector<FieldError> keep_server_fields(const RestRequest& request, const Value& live,
                                           Value& next) {
  std::vector<FieldError> errors;
  const Resource& resource = *request.resource;
  const GroupResource id = resource.group_resource();
  const bool is_patch = request.verb == "patch";
  if (!std::as_const(next)["metadata"].is_object()) next["metadata"] = Value::object();
  Value& metadata = next["metadata"];
  if (metadata_text(next, "name") != request.name) {
    throw bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    metadata_text(next, "name"), request.name));
  }
  set_namespace(request, next);
  const std::string uid = metadata_text(next, "uid");
  const std::string live_uid = metadata_text(live, "uid");
  if (!uid.empty() && uid != live_uid) {
    if (!is_patch) {
      throw conflict(
          id, request.name,
          fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                      live_uid));
    }
    errors.push_back(invalid_value("metadata.uid", uid, "field is immutable"));
  }
  const std::string version = metadata_text(next, "resourceVersion");
  if (!version.empty() && version != "0" && version != metadata_text(live, "resourceVersion")) {
    if (!parse_version(version)) throw malformed_version(version);
    throw modified_meanwhile(id, request.name);
  }
  const std::string deletion = metadata_text(next, "deletionTimestamp");
  const std::string live_deletion = metadata_text(live, "deletionTimestamp");
  // Once set, the timestamp is kept, and different values in the request are ignored.
  if (!deletion.empty() && live_deletion.empty()) {
    errors.push_back(invalid_value("metadata.deletionTimestamp", deletion, "field is immutable"));
  }
  const Value& grace = std::as_const(metadata)["deletionGracePeriodSeconds"];
  if (!grace.is_absent() && !(grace == live["metadata"]["deletionGracePeriodSeconds"])) {
    errors.push_back(
        invalid_value("metadata.deletionGracePeriodSeconds", grace, "field is immutable"));
  }
  if (!live_deletion.empty()) {
    const Value& finalizers = std::as_const(metadata)["finalizers"];
    for (std::size_t i = 0; i < finalizers.size(); ++i) {
      if (contains(live["metadata"]["finalizers"], finalizers[i])) continue;
      errors.push_back(
          forbidden_value("metadata.finalizers",
                          fmt::format("no new finalizers can be added if the object is "
                                      "being deleted, found new finalizers "
                                      "[]string{{\"{}\"}}",
                                      finalizers[i].is_string() ? finalizers[i].as_string() : "")));
      break;
    }
  }
  metadata.erase("selfLink");
  // A different uid stays in the object: validation reports it.
  if (uid.empty()) take_over(metadata, live["metadata"], "uid");
  for (const char* field : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                            "resourceVersion"}) {
    take_over(metadata, live["metadata"], field);
  }
  take_over(metadata, live["metadata"], "generation");
  return errors;
}

Value merge_parts(const Resource& resource, std::string_view subresource, const Value& live,
                  Value next) {
  // Returns `base` with `members` of `from`, and the managedFields of `from`.
  const auto taking = [](const Value& base, Value& from,
                         std::initializer_list<std::string_view> members) {
    Value merged = Value::object();
    for (const auto& [key, value] : base.as_object()) {
      if (std::ranges::find(members, key.view()) != members.end()) continue;
      // A comparison takes a fraction of the time of a copy.
      Value* const same = member(from, key.view());
      merged[key.view()] = same != nullptr && *same == value ? std::move(*same) : Value{value};
    }
    for (const std::string_view member : members) {
      if (!std::as_const(from)[member].is_absent()) merged[member] = std::move(from[member]);
    }
    if (std::ranges::find(members, "metadata") == members.end()) {
      take_over(merged["metadata"], from["metadata"], "managedFields");
    }
    return merged;
  };
  if (subresource == "status") {
    if (resource.is_custom()) return taking(live, next, {"status"});
    Value merged = taking(live, next, {"status", "metadata"});
    if (resource.id() == "deployments.apps") {
      take_over(merged["metadata"], live["metadata"], "labels");
    }
    if (resource.id() == "pods") {
      take_over(merged["metadata"], live["metadata"], "ownerReferences");
      if (std::as_const(merged)["status"]["qosClass"].is_absent()) {
        take_over(merged["status"], live["status"], "qosClass");
      }
    }
    return merged;
  }
  if (subresource == "ephemeralcontainers") {
    Value merged = taking(live, next, {});
    take_over(merged["spec"], next["spec"], "ephemeralContainers");
    return merged;
  }
  if (subresource == "finalize") {
    Value merged = taking(live, next, {});
    take_over(merged["spec"], next["spec"], "finalizers");
    return merged;
  }
  if (subresource == "approval") {
    Value merged = taking(live, next, {"metadata"});
    if (!std::as_const(merged)["status"].is_object()) merged["status"] = Value::object();
    take_over(merged["status"], next["status"], "conditions");
    return merged;
  }
  if (subresource == "resize") return taking(live, next, {"spec"});
  if (rules_of(resource).has_status) take_over(next, live, "status");
  if (resource.id() == kSigningRequests) take_over(next, live, "spec");
  if (resource.id() == "namespaces") {
    if (!std::as_const(next)["spec"].is_object()) next["spec"] = Value::object();
    take_over(next["spec"], live["spec"], "finalizers");
  }
  return next;
}

Value with_resources_of(const Value& live, const Value& next) {
  Value result = live;
  for (const char* list : {"initContainers", "containers"}) {
    const Value& before = live["spec"][list];
    if (!before.is_array()) continue;
    Value changed = Value::array();
    for (std::size_t i = 0; i < before.size(); ++i) {
      Value container = before[i];
      take_over(container, next["spec"][list][i], "resources");
      changed.push_back(std::move(container));
    }
    result["spec"][list] = std::move(changed);
  }
  return result;
}

void keep_allocated(const Resource& resource, const Value& live, Value& next) {
  if (resource.id() != "services" || !std::as_const(next)["spec"].is_object()) return;
  if (live["spec"]["type"] == Value{"ExternalName"}) {
    allocate_addresses(next);
    return;
  }
  if (std::as_const(next)["spec"]["type"] == Value{"ExternalName"}) {
    // Fields that do not apply to ExternalName are dropped, unless the write has set them.
    for (const char* field :
         {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"}) {
      if (std::as_const(next)["spec"][field] == live["spec"][field]) next["spec"].erase(field);
    }
    return;
  }
  const Value& address = std::as_const(next)["spec"]["clusterIP"];
  const Value& addresses = std::as_const(next)["spec"]["clusterIPs"];
  if (address.is_string() && !address.as_string().empty() &&
      !(address == live["spec"]["clusterIP"]) &&
      (addresses.size() == 0 || addresses == live["spec"]["clusterIPs"])) {
    // The client sets only the older of the two fields.
    next["spec"]["clusterIPs"] = Value::array({Value{address}});
  }
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (std::as_const(next)["spec"][field].is_absent())
      take_over(next["spec"], live["spec"], field);
  }
}

bool deduplicate_owners(Value& object) {
  const Value& references = std::as_const(object)["metadata"]["ownerReferences"];
  if (references.size() < 2) return false;
  Value kept = Value::array();
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (!contains(kept, references[i])) kept.push_back(references[i]);
  }
  if (kept.size() == references.size()) return false;
  object["metadata"]["ownerReferences"] = std::move(kept);
  return true;
}

namespace {

/// Requires the scale paths of a custom resource to hold numbers, regardless of the schema.
void check_scale_paths(const CustomVersion& custom, const Value& object,
                       std::vector<FieldError>& errors) {
  for (const std::string& path : {custom.spec_replicas_path, custom.status_replicas_path}) {
    if (path.empty()) continue;
    const Value* count = object.find(std::string_view{path}.substr(1));
    if (count == nullptr || count->is_absent() || count->is_null()) continue;
    if (count->kind() != Value::Kind::kInteger) {
      errors.push_back(invalid_value(path, Value::integer(0), "is no whole number"));
    } else if (count->as_integer() < 0 ||
               count->as_integer() > std::numeric_limits<std::int32_t>::max()) {
      errors.push_back(invalid_value(path, *count, "must be between 0 and the largest int32"));
    }
  }
}

}  // namespace

namespace {

/// Errors after which CEL rules are not evaluated, because types that they rely on may be wrong
/// (CE-8).
bool blocks_rules(const FieldError& error) {
  namespace cause = meta::v1::cause_type;
  return error.type == cause::kFieldValueNotSupported || error.type == cause::kFieldValueRequired ||
         error.type == cause::kTooLong || error.type == cause::kTooMany ||
         error.type == cause::kInvalid;
}

/// Evaluates the CEL rules of a custom resource.
void apply_rules(RestRequest& request, bool strict, const Value& object, const Value* live,
                 std::vector<FieldError>& errors) {
  const cel::RuleSet& rules = request.resource->custom->schema->rules();
  if (rules.empty()) return;
  if (std::ranges::any_of(errors, blocks_rules)) {
    errors.push_back(invalid_value("<nil>", nullptr,
                                   "some validation rules were not checked because the object was "
                                   "invalid; correct the existing errors to complete validation"));
    return;
  }
  cel::RuleSet::Findings findings = rules.validate(object, live, strict);
  errors.insert(errors.end(), findings.errors.begin(), findings.errors.end());
  for (std::string& warning : findings.warnings) request.warn(std::move(warning));
}

}  // namespace

void refuse_invalid(RestRequest& request, bool strict, const Value& object, const Value* live,
                    std::vector<FieldError> errors) {
  const Resource& resource = *request.resource;
  std::vector<FieldError> more;
  GroupKind kind = resource.group_kind();
  bool other_type = false;
  if (resource.is_custom()) {
    const std::string version{object.get_string("apiVersion").value_or("")};
    kind = {parse_group_version(version).group,
            std::string{object.get_string("kind").value_or("")}};
    if (kind.kind != resource.kind) {
      more.push_back(invalid_value("kind", kind.kind, fmt::format("must be {}", resource.kind)));
    }
    if (version != resource.api_version()) {
      more.push_back(
          invalid_value("apiVersion", version, fmt::format("must be {}", resource.api_version())));
    }
    other_type = !more.empty();
    if (!other_type) {
      if (resource.custom->schema) more = resource.custom->schema->validate(object, live);
      check_scale_paths(*resource.custom, object, more);
    }
  } else if (resource.type == resource.storage_type) {
    more = validate_builtin(resource, object, live);
  } else {
    Value stored_live;
    if (live != nullptr) stored_live = to_storage_form(resource, *live);
    more = validate_builtin(resource, to_storage_form(resource, object),
                            live != nullptr ? &stored_live : nullptr);
  }
  // The metadata of an Event is validated last, if there are no other errors; so is that of a new
  // object with another type.
  const bool metadata_last = kind.kind == "Event" || (other_type && live == nullptr);
  if (!metadata_last || more.empty()) {
    const std::vector<FieldError> about_metadata = validate_metadata(resource, object);
    errors.insert(errors.end(), about_metadata.begin(), about_metadata.end());
  }
  errors.insert(errors.end(), more.begin(), more.end());
  if (resource.is_custom() && !other_type && resource.custom->schema) {
    apply_rules(request, strict, object, live, errors);
  }
  if (!errors.empty()) {
    throw invalid(kind, metadata_text(object, "name"), errors);
  }
}

const SchemaNode& schema_of(const Resource& resource) {
  if (resource.is_custom() && resource.custom->schema) {
    return resource.custom->schema->apply_schema();
  }
  return resource.schema != nullptr ? *resource.schema : deduced_schema();
}

std::string without_dot(std::string_view path) {
  return std::string{path.starts_with('.') ? path.substr(1) : path};
}

std::string replicas_path(const Resource& resource) {
  return resource.is_custom() ? without_dot(resource.custom->spec_replicas_path) : "spec.replicas";
}

FieldManager field_manager(const Services& services, const RestRequest& request,
                           const WriteOptions& options) {
  return {.name = options.field_manager.empty()
                      ? manager_from_user_agent(request.header("User-Agent"))
                      : options.field_manager,
          .api_version = request.resource->api_version(),
          .subresource = request.subresource,
          .now = services.clock.wall_now(),
          .custom_resource = request.resource->is_custom(),
          .ignore_status = request.subresource.empty() && rules_of(*request.resource).has_status};
}

ApiError method_not_allowed_while_terminating(const Resource& resource, std::string_view name) {
  return forbidden(resource.group_resource(), name,
                   "create not allowed while custom resource definition is terminating");
}

}  // namespace kube::testkit::detail
