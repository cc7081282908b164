// SPDX-License-Identifier: Apache-2.0
// The verbs create and update, and the parts shared with patch.
#include "testkit/rest/rest.hpp"

#include <kube/api/meta/v1.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "testkit/admission/admission.hpp"
#include "testkit/admission/mutations.hpp"
#include "testkit/admission/policies.hpp"
#include "testkit/admission/unsupported.hpp"
#include "testkit/cluster/addresses.hpp"
#include "testkit/cluster/node_ports.hpp"
#include "testkit/cluster/signing_requests.hpp"
#include "testkit/cluster/volume_claims.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/rbac/escalation.hpp"
#include "testkit/requests/access.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/body.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/rest/object_warnings.hpp"
#include "testkit/values/apply.hpp"

namespace kube::testkit::detail {

namespace {

constexpr int kNameAttempts = 8;
constexpr int kMaxRaces = 1000;
constexpr const char* kDuplicateOwners =
    ".metadata.ownerReferences contains duplicate entries; each was kept once";

GroupResource namespaces() { return {"", "namespaces"}; }

/// Returns whether a deleted object has no finalizers and no grace period left (UP-6).
bool is_finally_deleted(const Value& object, bool is_namespace) {
  return !metadata_text(object, "deletionTimestamp").empty() &&
         object["metadata"]["finalizers"].size() == 0 &&
         object.get_integer("metadata.deletionGracePeriodSeconds").value_or(0) == 0 &&
         (!is_namespace || object["spec"]["finalizers"].size() == 0);
}

/// Gives an object that a policy has changed the form of a decoded one.
void complete(ObjectCodec& codec, const Resource& resource, Value& object) {
  if (resource.is_custom() && resource.custom->schema) {
    resource.custom->schema->prune(object);
    resource.custom->schema->apply_defaults(object);
  }
  object = normalized(codec, resource, object);
  merge_string_data(resource, object);
  if (!resource.is_custom()) apply_builtin_defaults(resource, object);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

}  // namespace

WriteOptions WriteOptions::parse(const Query& query, std::string_view kind,
                                 std::vector<FieldError> errors) {
  WriteOptions options;
  options.field_manager = query.text("fieldManager");
  if (options.field_manager.size() > 128) errors.push_back(too_long("fieldManager", 128));
  if (!is_printable(options.field_manager)) {
    errors.push_back(invalid_value("fieldManager", options.field_manager,
                                   "should only contain printable characters"));
  }
  for (const std::string_view value : query.all("dryRun")) {
    if (value != "All") {
      const std::array<std::string, 1> known{"All"};
      errors.push_back(not_supported("dryRun", value, known));
    }
    options.dry_run = true;
  }
  const std::string_view validation = query.text("fieldValidation");
  if (validation == "Ignore") {
    options.field_validation = FieldValidation::kIgnore;
  } else if (validation == "Strict") {
    options.field_validation = FieldValidation::kStrict;
  } else if (!validation.empty() && validation != "Warn") {
    const std::array<std::string, 3> known{"Ignore", "Warn", "Strict"};
    errors.push_back(not_supported("fieldValidation", validation, known));
  }
  if (query.has("force")) options.force = query.flag("force");
  if (!errors.empty()) throw invalid({"meta.k8s.io", std::string{kind}}, "", errors);
  return options;
}

StoredObject Rest::to_stored(const Resource& resource, Value object) {
  object = to_storage_form(resource, std::move(object));
  // Reserves space for the version that the store writes; see ObjectCodec::with_revision.
  if (std::as_const(object)["metadata"]["resourceVersion"].size() == 0 &&
      !std::as_const(object)["metadata"]["resourceVersion"].is_string()) {
    object["metadata"]["resourceVersion"] = std::to_string(services_.store.revision() + 1);
  }
  StoredObject stored = services_.codec.from_value(*resource.storage_type, object);
  if (resource.is_custom()) stored.schema_id = resource.custom->schema_id;
  return stored;
}

void Rest::check_new_namespace(const RestRequest& request) {
  const Resource& resource = *request.resource;
  if (!resource.namespaced) return;
  const StoredObject found =
      services_.store.get(services_.store.collection(namespaces()), request.namespace_);
  if (!found) throw not_found(namespaces(), request.namespace_);
  if (found.metadata_text("deletionTimestamp").empty()) return;
  meta::v1::Status status =
      forbidden(resource.group_resource(), request.name,
                fmt::format("unable to create new content in namespace {} because it is being "
                            "terminated",
                            request.namespace_))
          .status();
  meta::v1::StatusCause cause;
  cause.reason = "NamespaceTerminating";
  cause.message = fmt::format("namespace {} is being terminated", request.namespace_);
  cause.field = "metadata.namespace";
  status.details->causes.push_back(std::move(cause));
  throw ApiError{std::move(status)};
}

void Rest::finish_new(RestRequest& request, Value& object, const WriteOptions& options,
                      bool track) {
  const Resource& resource = *request.resource;
  const KindRules rules = rules_of(resource);
  object["metadata"]["uid"] = services_.ids.uuid();
  object["metadata"]["creationTimestamp"] = services_.now_text();
  if (rules.has_generation) object["metadata"]["generation"] = 1;
  if (rules.has_status && resource.id() != "nodes") object.erase("status");
  if (!resource.is_custom()) {
    apply_builtin_defaults(resource, object);
  } else if (resource.custom->schema) {
    resource.custom->schema->apply_defaults(object);
  }
  if (deduplicate_owners(object)) request.warn(kDuplicateOwners);
  if (!services_.options.managed_fields) {
    object["metadata"].erase("managedFields");
  } else if (track) {
    object = track_update(schema_of(resource), Value{}, std::move(object),
                          field_manager(services_, request, options));
  }
  // Values set by the server have no field manager.
  const std::string id = resource.id();
  const bool chosen = object.get_string("spec.clusterIP").has_value();
  if (!resource.is_custom()) {
    if (id == "services") choose_cluster_address(services_.store, object);
    if (id == kSigningRequests) set_requester(request.user, object);
    admit_new(services_, resource, object);
  }
  mutate_by_policies(
      services_, request, {.operation = "CREATE", .object = &object, .dry_run = options.dry_run},
      object,
      {.complete = [&](Value& changed) { complete(services_.codec, resource, changed); },
       .admit =
           [&](Value& changed) {
             if (!resource.is_custom()) admit_new(services_, resource, changed);
           }});
  if (!resource.is_custom()) {
    set_initial_state(resource, object);
    drop_empty_lists(object);
  }
  check_escalation(services_, request, nullptr, object);
  refuse_invalid(request, services_.options.strict, object, nullptr);
  report_unsupported(request, services_.options.strict, object);
  if (!resource.is_custom()) check_admitted(services_, resource, "", nullptr, object);
  check_policies(services_, request,
                 {.operation = "CREATE", .object = &object, .dry_run = options.dry_run});
  if (id == "services") {
    if (chosen) check_cluster_address(services_.store, object, options.dry_run);
    allocate_node_ports(services_.store, Value{}, object);
  }
  if (!resource.is_custom()) {
    for (std::string& warning : warnings_about(resource, object, nullptr)) {
      request.warn(std::move(warning));
    }
  }
}

Rest::Written Rest::create_object(RestRequest& request, Value object, const WriteOptions& options,
                                  bool track) {
  const Resource& resource = *request.resource;
  if (!std::as_const(object)["metadata"].is_object()) object["metadata"] = Value::object();
  Value& metadata = object["metadata"];
  const std::string version = metadata_text(object, "resourceVersion");
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "selfLink", "resourceVersion"}) {
    metadata.erase(field);
  }
  set_namespace(request, object);
  if (!request.name.empty()) {
    metadata["name"] = request.name;
  } else {
    request.name = metadata_text(object, "name");
  }
  const std::string prefix = metadata_text(object, "generateName").substr(0, 58);
  const bool generate = request.name.empty() && !prefix.empty();
  if (resource.is_custom() && resource.custom->terminating) {
    throw method_not_allowed_while_terminating(resource, request.name);
  }
  check_new_namespace(request);
  for (int attempt = 1;; ++attempt) {
    Value fresh = object;
    if (generate) {
      request.name = prefix + services_.ids.suffix();
      fresh["metadata"]["name"] = request.name;
    }
    finish_new(request, fresh, options, track);
    const std::string key = request.key();
    const std::uint32_t nulls = fill_nulls(resource, fresh);
    StoredObject stored = to_stored(resource, fresh);
    stored.nulls = nulls;
    services_.quotas.check(*resource.collection, key, {}, stored);
    const StoredObject existing = services_.store.get(*resource.collection, key);
    if (!existing && options.dry_run) {
      fresh["metadata"].erase("resourceVersion");
      if (!version.empty()) fresh["metadata"]["resourceVersion"] = version;
      StoredObject shown =
          services_.codec.from_value(*resource.storage_type, to_storage_form(resource, fresh));
      shown.schema_id = stored.schema_id;
      shown.nulls = nulls;
      return {std::move(shown), true};
    }
    if (!options.dry_run && parse_version(version).value_or(0) != 0) {
      throw plain_failure("resourceVersion should not be set on objects to be created");
    }
    if (!existing) {
      if (auto written = services_.commit(*resource.collection, key, {}, std::move(stored),
                                          QuotaUse::kEnforced)) {
        return {*written, true};
      }
    }
    if (!generate) {
      throw already_exists(resource.group_resource(), request.name,
                           existing && !existing.metadata_text("deletionTimestamp").empty());
    }
    if (attempt == kNameAttempts) {
      meta::v1::Status status =
          already_exists(resource.group_resource(), request.name, false).status();
      status.message = fmt::format(
          "{}, the server was not able to generate a unique name for the "
          "object",
          status.message.view());
      status.details->retry_after_seconds = 1;
      throw ApiError{std::move(status)};
    }
  }
}

ServerResponse Rest::create(RestRequest& request) {
  request.choose_output({.custom = request.resource->is_custom()});
  static_cast<void>(body_format(request.header("Content-Type"), request.resource->is_custom()));
  const WriteOptions options = WriteOptions::parse(request.url.query, "CreateOptions");
  Value body = decode_body(request, *request.resource, options);
  request.name.clear();  // custom resources may be posted to a name, which is ignored
  return respond(request, 201, create_object(request, std::move(body), options).object);
}

Value Rest::finish_update(RestRequest& request, const Value& live, Value next,
                          const WriteOptions& options, bool track) {
  const Resource& resource = *request.resource;
  const KindRules rules = rules_of(resource);
  std::vector<FieldError> errors = keep_server_fields(request, live, next);
  // Parts of the stored object that are not written do not become owned by the writer.
  const bool is_part = !resource.is_custom() && request.subresource == "status";
  if (is_part) apply_builtin_defaults(resource, next);
  next = merge_parts(resource, request.subresource, live, std::move(next));
  if (resource.is_custom()) {
    if (resource.custom->schema) {
      resource.custom->schema->prune(next);
      resource.custom->schema->apply_defaults(next);
    }
  } else if (!is_part) {
    apply_builtin_defaults(resource, next);
  }
  if (deduplicate_owners(next)) request.warn(kDuplicateOwners);
  if (!services_.options.managed_fields) {
    next["metadata"].erase("managedFields");
  } else if (track) {
    const FieldManager manager = field_manager(services_, request, options);
    next = request.subresource == "scale"
               ? track_scale(schema_of(resource), live, std::move(next), manager,
                             replicas_path(resource))
               : track_update(schema_of(resource), live, std::move(next), manager);
  }
  // The following changes are made by the server and have no field manager.
  if (!resource.is_custom()) {
    if (is_part) apply_builtin_defaults(resource, next);
    if (request.subresource.empty()) keep_allocated(resource, live, next);
    if (request.subresource.empty() && resource.id() == "services") {
      allocate_node_ports(services_.store, live, next);
    }
    if (resource.id() == kSigningRequests) stamp_conditions(next, services_.now_text());
    admit_change(resource, live, next);
  }
  if (request.subresource.empty() || request.subresource == "status") {
    mutate_by_policies(
        services_, request,
        {.operation = "UPDATE", .object = &next, .old_object = &live, .dry_run = options.dry_run},
        next,
        {.complete = [&](Value& changed) { complete(services_.codec, resource, changed); },
         .admit = [&](Value& changed) { admit_change(resource, live, changed); }});
  }
  if (!resource.is_custom()) {
    count_template(resource, live, next);
    drop_empty_lists(next);
  }
  if (rules.has_generation && request.subresource != "status" &&
      spec_differs(resource, live, next)) {
    next["metadata"]["generation"] = live.get_integer("metadata.generation").value_or(0) + 1;
  }
  check_escalation(services_, request, &live, next);
  // Fields that the subresource may change count as unchanged.
  std::optional<Value> compared;
  if (request.subresource == "resize") compared = with_resources_of(live, next);
  if (request.subresource == "ephemeralcontainers") {
    compared = live;
    (*compared)["spec"]["ephemeralContainers"] =
        Value{std::as_const(next)["spec"]["ephemeralContainers"]};
  }
  refuse_invalid(request, services_.options.strict, next, compared ? &*compared : &live,
                 std::move(errors));
  if (request.subresource.empty()) {
    report_unsupported(request, services_.options.strict, next);
  }
  if (!resource.is_custom()) {
    check_admitted(services_, resource, request.subresource, &live, next);
  }
  check_policies(
      services_, request,
      {.operation = "UPDATE", .object = &next, .old_object = &live, .dry_run = options.dry_run});
  if (resource.id() == "persistentvolumeclaims" && request.subresource.empty()) {
    check_expansion(services_.store, live, next);
  } else if (resource.id() == kSigningRequests && request.subresource == "status") {
    check_no_new_approval(live, next);
  }
  if (!resource.is_custom() && request.subresource.empty()) {
    for (std::string& warning : warnings_about(resource, next, &live)) {
      request.warn(std::move(warning));
    }
  }
  return next;
}

Rest::Written Rest::update_object(RestRequest& request, const WriteOptions& options,
                                  const Change& change, bool may_create, bool is_apply) {
  const Resource& resource = *request.resource;
  Collection& collection = *resource.collection;
  const std::string key = request.key();
  for (int race = 0; race < kMaxRaces; ++race) {
    const StoredObject current = services_.store.get(collection, key);
    if (!current) {
      if (!may_create) throw not_found(resource.group_resource(), request.name);
      if (services_.is_guarded()) require_access(services_, request.access_for("create"));
      Value fresh = change(Value{});
      if (!is_apply) {
        if (const std::string uid = metadata_text(fresh, "uid"); !uid.empty()) {
          throw conflict(resource.group_resource(), request.name,
                         fmt::format("the UID in the precondition ({}) is that of no object", uid));
        }
        const std::string version = metadata_text(fresh, "resourceVersion");
        if (!version.empty() && !parse_version(version)) throw malformed_version(version);
      }
      if (!options.dry_run) fresh["metadata"].erase("resourceVersion");
      return create_object(request, std::move(fresh), options, !is_apply);
    }
    const Ref<Value> served = as_served(services_.codec, resource, current).value();
    const Value& live = *served;
    Value next = finish_update(request, live, change(live), options, !is_apply);
    const std::uint32_t nulls = fill_nulls(resource, next);
    if (services_.options.managed_fields) next = keep_old_timestamps(live, std::move(next));
    const bool is_final = is_finally_deleted(next, resource.id() == "namespaces");
    StoredObject stored = to_stored(resource, std::move(next));
    stored.nulls = nulls;
    if (stored.same_content(current)) return {current, false};
    const bool is_enforced = request.subresource.empty() || request.subresource == "resize";
    if (options.dry_run) {
      if (is_enforced) services_.quotas.check(collection, key, current, stored);
      return {stored, false};
    }
    if (is_final) {
      if (services_.commit(collection, key, current, {})) return {stored, false};
    } else if (auto written =
                   services_.commit(collection, key, current, std::move(stored),
                                    is_enforced ? QuotaUse::kEnforced : QuotaUse::kCounted)) {
      return {*written, false};
    }
  }
  throw modified_meanwhile(resource.group_resource(), request.name);
}

ServerResponse Rest::update(RestRequest& request) {
  const Resource& resource = *request.resource;
  request.choose_output({.custom = resource.is_custom()});
  const WriteOptions options = WriteOptions::parse(request.url.query, "UpdateOptions");
  const Value body = decode_body(request, resource, options);
  const std::string name = metadata_text(body, "name");
  if (name != request.name) {
    throw bad_request(
        name.empty()
            ? "the name of the object is not set in the body"
            : fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                          name, request.name));
  }
  Value checked = body;
  set_namespace(request, checked);
  const bool may_create = request.subresource.empty() && rules_of(resource).created_by_update;
  const Written written = update_object(
      request, options,
      [&](const Value& live) {
        // A UID mismatch is reported before other conflicts.
        const std::string uid = metadata_text(checked, "uid");
        const bool other = !uid.empty() && uid != metadata_text(live, "uid");
        if (!live.is_absent() && !other) check_update_version(resource, checked);
        return checked;
      },
      may_create, false);
  return respond(request, written.created ? 201 : 200, written.object);
}

StoredObject Rest::edit(Collection& collection, const std::string& key,
                        const std::function<bool(Value&)>& change) {
  for (int race = 0; race < kMaxRaces; ++race) {
    StoredObject current = services_.store.get(collection, key);
    if (!current) return {};
    Value object = *current.value();
    if (!change(object)) return current;
    const bool is_final = is_finally_deleted(object, collection.resource() == namespaces());
    StoredObject next;
    if (!is_final) {
      next = services_.codec.from_value(current.type(), object);
      next.schema_id = current.schema_id;
      if (next.same_content(current)) return current;
    }
    if (auto written = services_.commit(collection, key, current, std::move(next))) return *written;
  }
  return {};
}

}  // namespace kube::testkit::detail
