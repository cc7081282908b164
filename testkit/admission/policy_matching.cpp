// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/policy_matching.hpp"

#include <algorithm>

#include "testkit/validation/field_rules.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

bool has(const Value& list, std::string_view wanted) {
  if (!list.is_array()) return false;
  return std::ranges::any_of(list.as_array(),
                             [&](const Value& one) { return one == Value{wanted}; });
}

bool has_or_star(const Value& list, std::string_view wanted) {
  return has(list, "*") || has(list, wanted);
}

/// Matches "pods", "pods/status", "*", "*/scale", "pods/*".
bool resource_matches(const Value& resources, const MatchedRequest& request) {
  if (!resources.is_array()) return false;
  return std::ranges::any_of(resources.as_array(), [&](const Value& one) {
    const std::string_view text = one.is_string() ? one.as_string() : std::string_view{};
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string_view resource = text.substr(0, slash);
    const std::string_view subresource = slash < text.size() ? text.substr(slash + 1) : "";
    return (resource == "*" || resource == request.resource) &&
           (subresource == "*" || subresource == request.subresource);
  });
}

bool rule_matches(const Value& rule, const std::string& version, const MatchedRequest& request) {
  const std::string_view scope = text_member(rule, "scope");
  if (!scope.empty() && scope != "*" && (scope == "Namespaced") != request.namespaced) return false;
  if (!has_or_star(rule["operations"], request.operation)) return false;
  if (!has_or_star(rule["apiGroups"], request.group)) return false;
  if (!resource_matches(rule["resources"], request)) return false;
  if (rule["resourceNames"].size() > 0 && !has(rule["resourceNames"], request.name)) return false;
  return has_or_star(rule["apiVersions"], version);
}

/// Returns the version that a rule matches; that of the request has precedence.
std::optional<std::string> any_rule(const Value& rules, bool equivalent,
                                    const MatchedRequest& request) {
  if (!rules.is_array()) return std::nullopt;
  for (std::size_t i = 0; i < (equivalent ? request.versions.size() : 1); ++i) {
    const std::string& version = request.versions[i];
    if (std::ranges::any_of(rules.as_array(), [&](const Value& rule) {
          return rule_matches(rule, version, request);
        })) {
      return version;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> match_resources(const Value& constraints,
                                           const MatchedRequest& request) {
  if (!constraints.is_object()) return request.versions.front();
  const Value& namespaces = constraints["namespaceSelector"];
  if (request.namespace_labels != nullptr && !selects_all(namespaces) &&
      !selects(namespaces, *request.namespace_labels)) {
    return std::nullopt;
  }
  const Value& selector = constraints["objectSelector"];
  if (!selects_all(selector)) {
    const bool now = request.labels != nullptr && selects(selector, *request.labels);
    const bool before = request.old_labels != nullptr && selects(selector, *request.old_labels);
    if (!now && !before) return std::nullopt;
  }
  const bool equivalent = text_member(constraints, "matchPolicy") != "Exact";
  if (any_rule(constraints["excludeResourceRules"], equivalent, request)) return std::nullopt;
  if (constraints["resourceRules"].size() == 0) return request.versions.front();
  return any_rule(constraints["resourceRules"], equivalent, request);
}

}  // namespace kube::testkit::detail
