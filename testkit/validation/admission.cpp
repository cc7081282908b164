// SPDX-License-Identifier: Apache-2.0
// admissionregistration.k8s.io/v1.
#include "base/url.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "testkit/cel/characters.hpp"
#include "testkit/cel/policy.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

bool has(const Field& list, std::string_view text) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.at(i).is(text)) return true;
  }
  return false;
}

void check_url(const Field& url) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const kube::detail::UrlParts parts = kube::detail::split_url(url.text());
  if (!parts.scheme) {
    url.invalid("'https' is the only allowed URL scheme" + std::string{kForm});
    return;
  }
  if (*parts.scheme != "https") {
    url.invalid(*parts.scheme, "'https' is the only allowed URL scheme" + std::string{kForm});
  }
  if (parts.fragment) url.invalid(*parts.fragment, "fragments are not permitted in the URL");
  if (parts.query) url.invalid(*parts.query, "query parameters are not permitted in the URL");
  if (parts.authority.empty()) url.invalid("host must be specified" + std::string{kForm});
  if (parts.user_info) {
    url.invalid(*parts.user_info, "user information is not permitted in the URL");
  }
}

void check_service(const Field& service) {
  check_required(service["name"]);
  check_required(service["namespace"]);
  if (const Field port = service["port"];
      port.number() && (*port.number() < 1 || *port.number() > 65535)) {
    port.invalid("port is not valid: must be between 1 and 65535, inclusive");
  }
  const Field path = service["path"];
  if (!path.is_set() || path.is("/") || path.text().empty()) return;
  if (!path.text().starts_with('/')) {
    path.invalid("must start with a '/'");
    path.invalid("segment[0] may not be empty");
    return;
  }
  if (path.text().find("//") != std::string_view::npos) {
    path.invalid("segment[0] may not be empty");
  }
}

void check_client(const Field& client) {
  if (client["url"].is_set() == client["service"].is_set()) {
    client.required("exactly one of url or service is required");
  } else if (client["url"].is_set()) {
    check_url(client["url"]);
  } else {
    check_service(client["service"]);
  }
}

/// Checks the operations, groups, versions and resources of a webhook or policy rule.
void check_rule(const Field& rule) {
  const Field operations = rule["operations"];
  if (operations.size() == 0) operations.required();
  if (operations.size() > 1 && has(operations, "*")) {
    operations.invalid("if '*' is present, must not specify other operations");
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    check_one_of(operations.at(i), {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  }
  for (const char* member : {"apiGroups", "apiVersions"}) {
    const Field list = rule[member];
    if (list.size() == 0) list.required();
    if (list.size() > 1 && has(list, "*")) {
      list.invalid(member == std::string_view{"apiGroups"}
                       ? "if '*' is present, must not specify other API groups"
                       : "if '*' is present, must not specify other API versions");
    }
  }
  const Field resources = rule["resources"];
  if (resources.size() == 0) resources.required();
  if (has(resources, "*/*") && resources.size() > 1) {
    resources.invalid("if '*/*' is present, must not specify other resources");
  } else if (has(resources, "*")) {
    for (std::size_t i = 0; i < resources.size(); ++i) {
      if (resources.at(i).is("*") || resources.at(i).text().find('/') != std::string_view::npos) {
        continue;
      }
      resources.invalid("if '*' is present, must not specify other resources without subresources");
      break;
    }
  }
  check_one_of(rule["scope"], {"*", "Cluster", "Namespaced"});
}

void check_conditions(const Field& conditions) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Field condition = conditions.at(i);
    check_required(condition["expression"]);
    if (check_required(condition["name"])) {
      check_text(condition["name"], qualified_name_problems);
      if (!names.emplace(condition["name"].text()).second) condition["name"].duplicate();
    }
  }
}

void check_review_versions(const Field& versions) {
  if (versions.size() == 0) {
    versions.required("must specify one of v1, v1beta1");
    return;
  }
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!seen.emplace(versions.at(i).text()).second) versions.at(i).invalid("duplicate version");
    check_text(versions.at(i), dns1035_label_problems);
  }
  if (!seen.contains("v1") && !seen.contains("v1beta1")) {
    versions.invalid("must include at least one of v1, v1beta1");
  }
}

void check_webhook(const Field& webhook) {
  const Field name = webhook["name"];
  if (check_required(name)) {
    check_text(name, dns1123_subdomain_problems);
    if (dns1123_subdomain_problems(name.text()).empty() &&
        std::ranges::count(name.text(), '.') < 2) {
      name.invalid("should be a domain with at least three segments separated by dots");
    }
  }
  for (std::size_t i = 0; i < webhook["rules"].size(); ++i) check_rule(webhook["rules"].at(i));
  check_one_of(webhook["failurePolicy"], {"Fail", "Ignore"});
  check_one_of(webhook["matchPolicy"], {"Equivalent", "Exact"});
  check_one_of(webhook["reinvocationPolicy"], {"IfNeeded", "Never"});
  if (check_required(webhook["sideEffects"], "must specify one of None, NoneOnDryRun")) {
    check_one_of(webhook["sideEffects"], {"None", "NoneOnDryRun"});
  }
  if (const Field timeout = webhook["timeoutSeconds"];
      timeout.number() && (*timeout.number() < 1 || *timeout.number() > 30)) {
    timeout.invalid("the timeout value must be between 1 and 30 seconds");
  }
  check_label_selector(webhook["namespaceSelector"]);
  check_label_selector(webhook["objectSelector"]);
  check_client(webhook["clientConfig"]);
  check_conditions(webhook["matchConditions"]);
  check_review_versions(webhook["admissionReviewVersions"]);
}

void check_constraints(const Field& constraints) {
  for (const char* member : {"resourceRules", "excludeResourceRules"}) {
    for (std::size_t i = 0; i < constraints[member].size(); ++i) {
      check_rule(constraints[member].at(i));
    }
  }
  check_one_of(constraints["matchPolicy"], {"Equivalent", "Exact"});
  check_label_selector(constraints["namespaceSelector"]);
  check_label_selector(constraints["objectSelector"]);
}

void check_mutations(const Field& spec) {
  check_one_of(spec["reinvocationPolicy"], {"IfNeeded", "Never"});
  const Field mutations = spec["mutations"];
  if (mutations.size() == 0) mutations.required("mutations must contain at least one item");
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const Field type = mutations.at(i)["patchType"];
    if (!check_required(type)) continue;
    if (type.is("ApplyConfiguration") || type.is("JSONPatch")) {
      const Field patch =
          mutations.at(i)[type.is("JSONPatch") ? "jsonPatch" : "applyConfiguration"];
      if (!patch.is_set()) {
        patch.required("must be specified when patchType is " + std::string{type.text()});
      } else {
        check_required(patch["expression"], "expression is not specified");
      }
    } else {
      type.unsupported({"ApplyConfiguration", "JSONPatch"});
    }
  }
}

/// Compiles the expressions of a policy that is valid otherwise.
void check_expressions(const Field& object) {
  if (object.errors().count() > 0) return;
  const cel::Policy compiled{object.value()};
  for (const FieldError& error : compiled.errors()) object.errors().add(error);
}

}  // namespace

void validate_webhook_configuration(const Field& object, const Value* /*live*/) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < object["webhooks"].size(); ++i) {
    const Field webhook = object["webhooks"].at(i);
    check_webhook(webhook);
    if (!names.emplace(webhook["name"].text()).second) webhook["name"].duplicate();
  }
}

void validate_admission_policy(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  check_one_of(spec["failurePolicy"], {"Fail", "Ignore"});
  if (const Field kind = spec["paramKind"]; kind.is_set()) {
    check_required(kind["apiVersion"]);
    check_required(kind["kind"]);
  }
  const Field constraints = spec["matchConstraints"];
  if (!constraints.is_set()) {
    constraints.required();
  } else {
    if (constraints["resourceRules"].size() == 0) constraints["resourceRules"].required();
    check_constraints(constraints);
  }
  check_conditions(spec["matchConditions"]);
  for (std::size_t i = 0; i < spec["variables"].size(); ++i) {
    check_required(spec["variables"].at(i)["name"], "name is not specified");
    check_required(spec["variables"].at(i)["expression"], "expression is not specified");
  }
  if (object["kind"].is("MutatingAdmissionPolicy")) {
    check_mutations(spec);
    check_expressions(object);
    return;
  }
  const Field validations = spec["validations"];
  const Field annotations = spec["auditAnnotations"];
  if (validations.size() + annotations.size() == 0) {
    for (const Field& one : {validations, annotations}) {
      one.required("validations or auditAnnotations must contain at least one item");
    }
  }
  for (std::size_t i = 0; i < validations.size(); ++i) {
    check_required(validations.at(i)["expression"], "expression is not specified");
    if (const Field message = validations.at(i)["message"]; !message.text().empty()) {
      const std::string_view text = cel::trimmed(message.text());
      if (text.empty()) message.invalid("must be non-empty if specified");
      if (text.find('\n') != std::string_view::npos) {
        message.invalid("must not contain line breaks");
      }
    }
    check_one_of(validations.at(i)["reason"], {"Forbidden", "Invalid", "RequestEntityTooLarge"});
  }
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const Field key = annotations.at(i)["key"];
    const std::string full =
        std::string{object["metadata"]["name"].text()} + '/' + std::string{key.text()};
    for (const std::string& problem : qualified_name_problems(full)) key.invalid(full, problem);
    check_required(annotations.at(i)["valueExpression"], "valueExpression is not specified");
  }
  check_expressions(object);
}

void validate_admission_policy_binding(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  if (check_required(spec["policyName"])) {
    check_text(spec["policyName"], dns1123_subdomain_problems);
  }
  if (const Field parameter = spec["paramRef"]; parameter.is_set()) {
    const bool named = !parameter["name"].text().empty();
    if (named == parameter["selector"].is_set()) {
      if (named) {
        for (const char* member : {"name", "selector"}) {
          parameter[member].forbidden("name and selector are mutually exclusive");
        }
      } else {
        parameter.required("one of name or selector must be specified");
      }
    }
    if (check_required(parameter["parameterNotFoundAction"])) {
      check_one_of(parameter["parameterNotFoundAction"], {"Allow", "Deny"});
    }
  }
  if (spec["matchResources"].is_set()) check_constraints(spec["matchResources"]);
  if (object["kind"].is("MutatingAdmissionPolicyBinding")) return;
  const Field actions = spec["validationActions"];
  if (actions.size() == 0) actions.required("at least one validation action is required");
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    check_one_of(actions.at(i), {"Audit", "Deny", "Warn"});
    if (!seen.emplace(actions.at(i).text()).second) actions.at(i).duplicate();
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    actions.invalid(
        "must not contain both Deny and Warn (repeating the same validation failure information in "
        "the API response and headers serves no purpose)");
  }
}

}  // namespace kube::testkit::detail
