// SPDX-License-Identifier: Apache-2.0
#include "testkit/rbac/escalation.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "testkit/rbac/policy_rules.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

using rbac::v1::PolicyRule;
using rbac::v1::RoleRef;

/// Decodes a part of an object.
template <typename T>
T decoded(Services& services, const Value& part) {
  return *services.codec.from_value(type_of<T>(), part).template as<T>();
}

List<PolicyRule> rules_in(Services& services, const Value& role) {
  List<PolicyRule> rules;
  for (const Value& rule : role.get_array("rules")) {
    rules.push_back(decoded<PolicyRule>(services, rule));
  }
  return rules;
}

/// Returns the object without the fields that only concern its deletion.
Value without_deletion_fields(Value object) {
  for (const char* field : {"ownerReferences", "finalizers", "managedFields", "resourceVersion"}) {
    object["metadata"].erase(field);
  }
  return object;
}

bool has_aggregation(const Value& role) {
  return role["aggregationRule"]["clusterRoleSelectors"].size() > 0;
}

bool is_allowed(const Services& services, const RestRequest& request, const char* verb,
                std::string resource, std::string name) {
  return services
      .authorize({.user = request.user,
                  .verb = verb,
                  .group = kRbacGroup,
                  .version = "*",
                  .resource = std::move(resource),
                  .subresource = {},
                  .namespace_ = request.namespace_,
                  .name = std::move(name),
                  .path = {}})
      .allowed;
}

/// Returns why the user may not grant the rules; empty if he holds all of them.
std::string grant_problem(const Services& services, const RestRequest& request,
                          const List<PolicyRule>& rules) {
  const Rbac::UserRules held = services.rbac->rules_for(request.user, request.namespace_);
  std::set<std::string> missing;
  for (const PolicyRule& rule : missing_rights(held.rules, rules)) missing.insert(rule_text(rule));
  if (missing.empty()) return {};
  std::string text = fmt::format(
      "user {} (groups={}) is attempting to grant RBAC permissions not currently held:",
      quoted_go(request.user.name), list_text(request.user.groups));
  for (const std::string& line : missing) text += '\n' + line;
  if (!held.problem.empty()) text += fmt::format("; resolution errors: [{}]", held.problem);
  return text;
}

void check_role(Services& services, const RestRequest& request, const Value* live,
                const Value& object) {
  const GroupResource id = request.resource->group_resource();
  // A role that is posted is authorized without a name.
  const std::string named = request.verb == "create" ? std::string{} : request.name;
  if (is_allowed(services, request, "escalate", id.resource, named)) return;
  const std::string problem = grant_problem(services, request, rules_in(services, object));
  if (!problem.empty()) throw forbidden(id, request.name, problem);
  if (!has_aggregation(object) && (live == nullptr || !has_aggregation(*live))) return;
  const List<PolicyRule> everything{
      {.verbs = {kEverything}, .api_groups = {kEverything}, .resources = {kEverything}},
      {.verbs = {kEverything}, .non_resource_urls = {kEverything}}};
  if (!grant_problem(services, request, everything).empty()) {
    throw forbidden(id, request.name,
                    "must have cluster-admin privileges to use the aggregationRule");
  }
}

void check_binding(Services& services, const RestRequest& request, const Value& object) {
  const GroupResource id = request.resource->group_resource();
  if (!object["roleRef"].is_object()) return;  // refused by validation
  const auto role = decoded<RoleRef>(services, object["roleRef"]);
  if (is_allowed(services, request, "bind",
                 role.kind == "ClusterRole" ? "clusterroles" : "roles", role.name.str())) {
    return;
  }
  const auto rules = services.rbac->rules_of(role, request.namespace_);
  if (!rules) throw not_found(id, role.name);
  const std::string problem = grant_problem(services, request, *rules);
  if (!problem.empty()) throw forbidden(id, request.name, problem);
}

}  // namespace

void check_escalation(Services& services, const RestRequest& request, const Value* live,
                      const Value& object) {
  if (!services.rbac || request.resource->group != kRbacGroup || is_master(request.user)) return;
  if (live != nullptr && without_deletion_fields(*live) == without_deletion_fields(object)) return;
  const std::string& resource = request.resource->plural;
  if (resource == "roles" || resource == "clusterroles") {
    check_role(services, request, live, object);
  } else {
    check_binding(services, request, object);
  }
}

}  // namespace kube::testkit::detail
