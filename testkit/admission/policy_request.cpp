// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/policy_request.hpp"

#include <kube/api/group_version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/values/value_edit.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kGroup = "admissionregistration.k8s.io";

/// Returns the variable `request` of expressions that see the object in the given version.
Value admission_request(const RestRequest& request, const AdmittedWrite& write,
                        const std::string& version) {
  const Resource& resource = *request.resource;
  const auto kind = [&](const std::string& shown) {
    return Value::object({{"group", resource.group}, {"version", shown}, {"kind", resource.kind}});
  };
  const auto plural = [&](const std::string& shown) {
    return Value::object(
        {{"group", resource.group}, {"version", shown}, {"resource", resource.plural}});
  };
  // Empty texts and lists are absent.
  const auto set = [](Value& object, const char* field, const std::string& text) {
    if (!text.empty()) object[field] = text;
  };
  Value user = Value::object({{"username", request.user.name}});
  set(user, "uid", request.user.uid);
  if (!request.user.groups.empty()) user["groups"] = string_list(request.user.groups);
  for (const auto& [key, values] : request.user.extra) user["extra"][key] = string_list(values);
  const char* options = write.operation == "CREATE"   ? "CreateOptions"
                        : write.operation == "DELETE" ? "DeleteOptions"
                                                      : "UpdateOptions";
  Value info = Value::object(
      {{"kind", kind(version)},
       {"resource", plural(version)},
       {"requestKind", kind(resource.version)},
       {"requestResource", plural(resource.version)},
       {"operation", write.operation},
       {"userInfo", std::move(user)},
       {"dryRun", write.dry_run},
       {"options", Value::object({{"kind", options}, {"apiVersion", "meta.k8s.io/v1"}})}});
  set(info, "subResource", request.subresource);
  set(info, "requestSubResource", request.subresource);
  set(info, "name", request.name);
  set(info, "namespace", request.namespace_);
  return info;
}

/// Returns a namespace without the fields that expressions cannot access.
Value namespace_for(Services& services, const std::string& name) {
  const StoredObject found =
      services.store.get(services.store.collection({"", "namespaces"}), name);
  if (!found) return {};
  Value object = *found.value();
  object["metadata"].erase("managedFields");
  object["metadata"].erase("ownerReferences");
  return object;
}

}  // namespace

std::vector<Ref<Value>> admission_objects(Services& services, const char* resource) {
  std::vector<Ref<Value>> found;
  Collection& collection = services.store.collection({kGroup, resource});
  if (collection.size() == 0) return found;
  for (const auto& [key, stored] : services.store.list(collection, {}).objects) {
    found.push_back(stored.value());
  }
  return found;
}

bool is_exempt_from_policies(const Resource& resource) {
  static constexpr std::array kExempt{
      "validatingadmissionpolicies",     "validatingadmissionpolicybindings",
      "mutatingadmissionpolicies",       "mutatingadmissionpolicybindings",
      "validatingwebhookconfigurations", "mutatingwebhookconfigurations"};
  return resource.group == kGroup &&
         std::ranges::any_of(kExempt, [&](const char* one) { return resource.plural == one; });
}

PolicyRequest::PolicyRequest(Services& services, RestRequest& request, const AdmittedWrite& write)
    : services_(services),
      request_(request),
      write_(write),
      info_(admission_request(request, write, request.resource->version)) {
  const Resource& resource = *request.resource;
  const bool is_namespace = resource.id() == "namespaces";
  if (resource.namespaced && !request.namespace_.empty()) {
    namespace_ = namespace_for(services, request.namespace_);
  }
  matched_ = {.operation = write.operation,
              .group = resource.group,
              .resource = resource.plural,
              .subresource = request.subresource,
              .name = request.name,
              .namespaced = resource.namespaced,
              .versions = {resource.version}};
  for (const auto& [version, resources] : services.catalog()->versions(resource.group)) {
    if (version != resource.version && resources.contains(resource.plural)) {
      matched_.versions.push_back(version);
    }
  }
  if (write.object != nullptr) matched_.labels = &(*write.object)["metadata"]["labels"];
  if (write.old_object != nullptr) matched_.old_labels = &(*write.old_object)["metadata"]["labels"];
  if (is_namespace) {
    matched_.namespace_labels = matched_.labels != nullptr ? matched_.labels : matched_.old_labels;
  } else if (resource.namespaced) {
    matched_.namespace_labels = &std::as_const(namespace_)["metadata"]["labels"];
  }
}

std::vector<Value> PolicyRequest::params_of(const Value& policy, const Value& binding,
                                            std::string& error) const {
  const Value& kind = policy["spec"]["paramKind"];
  const Value& ref = binding["spec"]["paramRef"];
  if (!kind.is_object() || !ref.is_object()) return {Value{}};
  const std::string_view version = text_member(kind, "apiVersion");
  const std::string_view name = text_member(kind, "kind");
  const ResourcePtr resource = services_.catalog()->find_kind(version, name);
  if (resource == nullptr || resource->collection == nullptr) {
    error = fmt::format("paramKind kind `{}, Kind={}` not known", version, name);
    return {};
  }
  std::string space{text_member(ref, "namespace")};
  if (resource->namespaced && space.empty()) space = request_.namespace_;
  if (resource->namespaced && space.empty()) {
    error =
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
    return {};
  }
  if (!resource->namespaced && !space.empty()) {
    error = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`";
    return {};
  }
  std::vector<Value> params = find_params(*resource, space, ref);
  if (params.empty() && text_member(ref, "parameterNotFoundAction") == "Deny") {
    error = "no params found for policy binding with `Deny` parameterNotFoundAction";
  }
  return params;
}

std::vector<Value> PolicyRequest::find_params(const Resource& resource, const std::string& space,
                                              const Value& ref) const {
  std::vector<Value> params;
  const auto add = [&](const StoredObject& stored) {
    params.push_back(*as_served(services_.codec, resource, stored).value());
  };
  if (const std::string_view name = text_member(ref, "name"); !name.empty()) {
    const StoredObject found = services_.store.get(*resource.collection, key_of(space, name));
    if (found) add(found);
    return params;
  }
  for (const auto& [key, stored] : services_.store.list(*resource.collection, {}).objects) {
    if (resource.namespaced && stored.metadata_text("namespace") != space) continue;
    if (selects(ref["selector"], (*stored.value())["metadata"]["labels"])) add(stored);
  }
  return params;
}

cel::AdmissionInput PolicyRequest::input(const Value& object, const Value& params) const {
  static const Value kNone;
  return {object, write_.old_object != nullptr ? *write_.old_object : kNone, info_, params,
          namespace_};
}

std::string PolicyRequest::unknown_param_kind(const Value& policy) const {
  const Value& kind = policy["spec"]["paramKind"];
  if (!kind.is_object()) return {};
  const std::string_view version = text_member(kind, "apiVersion");
  const std::string_view name = text_member(kind, "kind");
  const ResourcePtr resource = services_.catalog()->find_kind(version, name);
  if (resource != nullptr && resource->collection != nullptr) return {};
  const GroupVersion parsed = parse_group_version(version);
  return fmt::format("failed to find resource referenced by paramKind: '{}/{}, Kind={}'",
                     parsed.group, parsed.version, name);
}

Value PolicyRequest::converted(const Value* object, const std::string& version) const {
  if (object == nullptr) return {};
  const Resource& own = *request_.resource;
  const ResourcePtr other = services_.catalog()->find(own.group, version, own.plural);
  const bool is_whole = request_.subresource.empty() || request_.subresource == "status";
  if (version == own.version || other == nullptr || !is_whole) return *object;
  const StoredObject stored =
      services_.codec.from_value(*own.storage_type, to_storage_form(own, *object));
  return *as_served(services_.codec, *other, stored).value();
}

PolicyRequest::Seen PolicyRequest::in_version(const Value* object,
                                              const std::string& version) const {
  return {converted(object, version), converted(write_.old_object, version),
          admission_request(request_, write_, version)};
}

cel::AdmissionInput PolicyRequest::input(const Seen& seen, const Value& params) const {
  return {seen.object, seen.old_object, seen.info, params, namespace_};
}

void PolicyRequest::not_evaluated(std::string_view kind, const Value& policy,
                                  const cel::Policy& compiled) const {
  const cel::MissingRule& missing = compiled.missing().front();
  const std::string text = fmt::format("{} '{}': {}", kind, metadata_text(policy, "name"),
                                       cel::not_evaluated(missing.expression, missing.function));
  if (services_.options.strict) {
    throw forbidden(request_.resource->group_resource(), request_.name, text);
  }
  request_.warn(text);
}

}  // namespace kube::testkit::detail
