// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/policies.hpp"

#include <kube/api/errors.hpp>
#include <kube/api/group_version.hpp>
#include <kube/api/meta/v1.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testkit/admission/policy_matching.hpp"
#include "testkit/cel/policy.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kGroup = "admissionregistration.k8s.io";

/// Policies do not apply to policies and webhooks, so that a mistake can always be undone.
bool is_exempt(const Resource& resource) {
  static constexpr std::array kExempt{
      "validatingadmissionpolicies",     "validatingadmissionpolicybindings",
      "mutatingadmissionpolicies",       "mutatingadmissionpolicybindings",
      "validatingwebhookconfigurations", "mutatingwebhookconfigurations"};
  return resource.group == kGroup &&
         std::ranges::any_of(kExempt, [&](const char* one) { return resource.plural == one; });
}

Value list_of(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

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
  if (!request.user.groups.empty()) user["groups"] = list_of(request.user.groups);
  for (const auto& [key, values] : request.user.extra) user["extra"][key] = list_of(values);
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

/// Applies all policies to one write.
class PolicyCheck {
 public:
  PolicyCheck(Services& services, RestRequest& request, const AdmittedWrite& write)
      : services_(services), request_(request), write_(write) {
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
    if (write.old_object != nullptr)
      matched_.old_labels = &(*write.old_object)["metadata"]["labels"];
    if (is_namespace) {
      matched_.namespace_labels =
          matched_.labels != nullptr ? matched_.labels : matched_.old_labels;
    } else if (resource.namespaced) {
      matched_.namespace_labels = &std::as_const(namespace_)["metadata"]["labels"];
    }
  }

  void run(const Value& policy, const std::vector<Ref<Value>>& bindings) {
    const auto version = match_resources(policy["spec"]["matchConstraints"], matched_);
    if (!version) return;
    std::optional<cel::Policy> compiled;
    for (const Ref<Value>& binding : bindings) {
      if ((*binding)["spec"]["policyName"] != Value{metadata_text(policy, "name")}) continue;
      if (!match_resources((*binding)["spec"]["matchResources"], matched_)) continue;
      if (!compiled) compiled.emplace(policy);
      bind(policy, *compiled, *binding, *version);
    }
  }

 private:
  /// Returns an object of the request in another version of its resource.
  Value converted(const Value* object, const std::string& version) {
    if (object == nullptr) return {};
    const Resource& own = *request_.resource;
    const ResourcePtr other = services_.catalog()->find(own.group, version, own.plural);
    const bool is_whole = request_.subresource.empty() || request_.subresource == "status";
    if (version == own.version || other == nullptr || !is_whole) return *object;
    const StoredObject stored =
        services_.codec.from_value(*own.storage_type, to_storage_form(own, *object));
    return *as_served(services_.codec, *other, stored).value();
  }

  void bind(const Value& policy, const cel::Policy& compiled, const Value& binding,
            const std::string& version) {
    if (!compiled.missing().empty()) return not_evaluated(policy, compiled);
    if (!compiled.errors().empty()) {
      return broken(policy, binding, compiled.errors().front().message);
    }
    const Value info = admission_request(request_, write_, version);
    const Value object = converted(write_.object, version);
    const Value old_object = converted(write_.old_object, version);
    std::string error;
    for (const Value& params : params_of(policy, binding, error)) {
      const cel::AdmissionInput input{object, old_object, info, params, namespace_};
      for (const cel::Policy::Denial& denial : compiled.evaluate(input))
        act(policy, binding, denial);
    }
    if (!error.empty()) broken(policy, binding, "failed to configure binding: " + error);
  }

  /// An unusable binding denies the request, unless failurePolicy is Ignore.
  void broken(const Value& policy, const Value& binding, const std::string& why) {
    if (policy["spec"]["failurePolicy"] == Value{"Ignore"}) return;
    deny(policy, binding, {why, ""});
  }

  /// A policy that no binding can use denies the request, unless failurePolicy is Ignore.
  void unusable(const Value& policy, const std::string& why) {
    if (policy["spec"]["failurePolicy"] == Value{"Ignore"}) return;
    refuse(fmt::format("ValidatingAdmissionPolicy '{}' denied request: failed to configure policy: "
                       "{}",
                       metadata_text(policy, "name"), why),
           "Invalid");
  }

  void not_evaluated(const Value& policy, const cel::Policy& compiled) {
    const cel::MissingRule& missing = compiled.missing().front();
    const std::string text =
        fmt::format("ValidatingAdmissionPolicy '{}': {}", metadata_text(policy, "name"),
                    cel::not_evaluated(missing.expression, missing.function));
    if (services_.options.strict) {
      throw forbidden(request_.resource->group_resource(), request_.name, text);
    }
    request_.warn(text);
  }

  /// Returns the parameters to evaluate with; a single absent one if the policy has no paramKind.
  std::vector<Value> params_of(const Value& policy, const Value& binding, std::string& error) {
    const Value& kind = policy["spec"]["paramKind"];
    const Value& ref = binding["spec"]["paramRef"];
    if (!kind.is_object() || !ref.is_object()) return {Value{}};
    const std::string_view version = text_member(kind, "apiVersion");
    const std::string_view name = text_member(kind, "kind");
    const ResourcePtr resource = services_.catalog()->find_kind(version, name);
    if (resource == nullptr || resource->collection == nullptr) {
      const GroupVersion parsed = parse_group_version(version);
      unusable(policy, fmt::format("failed to find resource referenced by paramKind: '{}/{}, "
                                   "Kind={}'",
                                   parsed.group, parsed.version, name));
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

  std::vector<Value> find_params(const Resource& resource, const std::string& space,
                                 const Value& ref) {
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

  void act(const Value& policy, const Value& binding, const cel::Policy::Denial& denial) {
    for (const Value& action : binding.get_array("spec.validationActions")) {
      if (action == Value{"Deny"}) deny(policy, binding, denial);
      if (action == Value{"Warn"}) {
        request_.warn(fmt::format(
            "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
            metadata_text(policy, "name"), metadata_text(binding, "name"), denial.message));
      }
    }
  }

  /// Throws the first denial; the warnings collected so far are kept.
  [[noreturn]] void deny(const Value& policy, const Value& binding,
                         const cel::Policy::Denial& denial) {
    refuse(
        fmt::format("ValidatingAdmissionPolicy '{}' with binding '{}' denied request: {}",
                    metadata_text(policy, "name"), metadata_text(binding, "name"), denial.message),
        denial.reason.empty() ? "Invalid" : denial.reason);
  }

  [[noreturn]] void refuse(const std::string& message, const std::string& reason) {
    // The deletion of a collection has no name.
    const std::string name = request_.name.empty() ? "Unknown" : request_.name;
    meta::v1::Status status =
        forbidden(request_.resource->group_resource(), name, message).status();
    status.reason = reason;
    status.code = reason == "Forbidden" ? 403 : reason == "RequestEntityTooLarge" ? 413 : 422;
    meta::v1::StatusCause cause;
    cause.message = message;
    status.details->causes.push_back(std::move(cause));
    throw ApiError{std::move(status)};
  }

  Services& services_;
  RestRequest& request_;
  const AdmittedWrite& write_;
  Value namespace_;
  MatchedRequest matched_;
};

}  // namespace

void check_policies(Services& services, RestRequest& request, const AdmittedWrite& write) {
  if (is_exempt(*request.resource)) return;
  const auto policies =
      services.store.list(services.store.collection({kGroup, "validatingadmissionpolicies"}), {})
          .objects;
  if (policies.empty()) return;
  std::vector<Ref<Value>> bindings;
  for (const auto& [key, stored] :
       services.store
           .list(services.store.collection({kGroup, "validatingadmissionpolicybindings"}), {})
           .objects) {
    bindings.push_back(stored.value());
  }
  if (bindings.empty()) return;
  PolicyCheck check{services, request, write};
  for (const auto& [key, stored] : policies) check.run(*stored.value(), bindings);
}

}  // namespace kube::testkit::detail
