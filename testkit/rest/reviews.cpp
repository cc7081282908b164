// SPDX-License-Identifier: Apache-2.0
// Kinds that are never stored: the server answers with the object and its status.
#include "testkit/rest/rest.hpp"

#include <fmt/format.h>

#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kResource = "spec.resourceAttributes";
constexpr const char* kNonResource = "spec.nonResourceAttributes";

const Value* object_at(const Value& review, std::string_view path) {
  const Value* found = review.find(path);
  return found != nullptr && found->is_object() ? found : nullptr;
}

/// Returns the member as real servers show it: with the names of its fields in Go.
Value shown_non_resource(const Value& review) {
  const std::string path = kNonResource;
  return Value::object({{"Path", string_at(review, path + ".path")},
                        {"Verb", string_at(review, path + ".verb")}});
}

void check_selector(const Value& review, const std::string& path, std::vector<FieldError>& errors) {
  if (object_at(review, path) == nullptr) return;
  const std::string raw = string_at(review, path + ".rawSelector");
  const bool has_requirements = !review.get_array(path + ".requirements").empty();
  if (!raw.empty() && has_requirements) {
    errors.push_back(invalid_value(path + ".rawSelector", raw,
                                   "may not specified at the same time as requirements"));
  } else if (raw.empty() && !has_requirements) {
    errors.push_back(required_value(
        path + ".requirements",
        fmt::format("when {} is specified, requirements or rawSelector is required", path)));
  }
}

/// Throws ApiError 422 for an access review that is not valid (RB-31).
void refuse_invalid_review(std::string_view kind, const Value& review) {
  std::vector<FieldError> errors;
  const Value* resource = object_at(review, kResource);
  const Value* non_resource = object_at(review, kNonResource);
  const bool local = kind == "LocalSubjectAccessReview";
  if (resource != nullptr && non_resource != nullptr) {
    errors.push_back(invalid_value(kNonResource, shown_non_resource(review),
                                   "cannot be specified in combination with resourceAttributes"));
  }
  if (resource == nullptr && non_resource == nullptr) {
    errors.push_back(invalid_value(
        kResource, nullptr,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (kind != "SelfSubjectAccessReview" && string_at(review, "spec.user").empty() &&
      review.get_array("spec.groups").empty()) {
    errors.push_back(
        invalid_value("spec.user", "", "at least one of user or group must be specified"));
  }
  check_selector(review, std::string{kResource} + ".fieldSelector", errors);
  check_selector(review, std::string{kResource} + ".labelSelector", errors);
  Value metadata = review["metadata"];
  if (metadata.is_object()) {
    metadata.erase("managedFields");
    if (local) metadata.erase("namespace");
    if (metadata.size() > 0) {
      errors.push_back(
          invalid_value("metadata", review["metadata"],
                        local ? "must be empty except for namespace" : "must be empty"));
    }
  }
  if (local && resource != nullptr) {
    const std::string namespace_ = string_at(review, std::string{kResource} + ".namespace");
    if (namespace_ != metadata_text(review, "namespace")) {
      errors.push_back(invalid_value(std::string{kResource} + ".namespace", namespace_,
                                     "must match metadata.namespace"));
    }
  }
  if (local && non_resource != nullptr) {
    errors.push_back(invalid_value(kNonResource, shown_non_resource(review),
                                   "disallowed on this kind of request"));
  }
  // The kind is empty in the answer of a real server, too.
  if (!errors.empty()) throw invalid({"authorization.k8s.io", ""}, "", errors);
}

Value list_value(const List<String>& texts) {
  Value list = Value::array();
  for (const String& text : texts) list.push_back(text.view());
  return list;
}

}  // namespace

Value Rest::review_access(const RestRequest& request, const Value& review) const {
  refuse_invalid_review(request.resource->kind, review);
  AccessRequest access;
  if (request.resource->kind == "SelfSubjectAccessReview") {
    access.user = request.user;
  } else {
    access.user = {.name = string_at(review, "spec.user"),
                   .uid = string_at(review, "spec.uid"),
                   .groups = strings_at(review, "spec.groups")};
  }
  if (object_at(review, kResource) != nullptr) {
    const auto attribute = [&](const char* name) {
      return string_at(review, fmt::format("{}.{}", kResource, name));
    };
    access.verb = attribute("verb");
    access.group = attribute("group");
    access.version = attribute("version");
    access.resource = attribute("resource");
    access.subresource = attribute("subresource");
    access.namespace_ = attribute("namespace");
    access.name = attribute("name");
  } else {
    access.verb = string_at(review, std::string{kNonResource} + ".verb");
    access.path = string_at(review, std::string{kNonResource} + ".path");
  }
  const AccessDecision decision = services_.authorize(access);
  Value status = Value::object({{"allowed", decision.allowed}});
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  return status;
}

Value Rest::review_rules(const RestRequest& request, const Value& review) const {
  const std::string namespace_ = string_at(review, "spec.namespace");
  if (namespace_.empty()) throw bad_request("no namespace on request");
  Value resources = Value::array();
  Value urls = Value::array();
  std::string problem;
  if (services_.rbac) {
    const Rbac::UserRules found = services_.rbac->rules_for(request.user, namespace_);
    problem = found.problem;
    for (const rbac::v1::PolicyRule& rule : found.rules) {
      const Value verbs = list_value(rule.verbs);
      if (!rule.resources.empty()) {
        Value shown = Value::object({{"verbs", verbs},
                                     {"apiGroups", list_value(rule.api_groups)},
                                     {"resources", list_value(rule.resources)}});
        if (!rule.resource_names.empty()) shown["resourceNames"] = list_value(rule.resource_names);
        resources.push_back(std::move(shown));
      }
      if (!rule.non_resource_urls.empty()) {
        urls.push_back(Value::object(
            {{"verbs", verbs}, {"nonResourceURLs", list_value(rule.non_resource_urls)}}));
      }
    }
  } else {
    const Value all = Value::array({"*"});
    resources.push_back(Value::object({{"verbs", all}, {"apiGroups", all}, {"resources", all}}));
    urls.push_back(Value::object({{"verbs", all}, {"nonResourceURLs", all}}));
  }
  // An authorizer cannot list its rules.
  Value status = Value::object({{"resourceRules", std::move(resources)},
                                {"nonResourceRules", std::move(urls)},
                                {"incomplete", static_cast<bool>(services_.options.authorize)}});
  if (!problem.empty()) status["evaluationError"] = problem;
  return status;
}

ServerResponse Rest::review(RestRequest& request) {
  const Resource& resource = *request.resource;
  if (resource.kind == "Binding") return bind(request);
  request.choose_output({.transforms = false});
  const WriteOptions options = WriteOptions::parse(request.url.query, "CreateOptions");
  Value body = decode_body(request, resource, options);
  if (resource.kind == "SelfSubjectReview") {
    Value user = Value::object({{"username", request.user.name},
                                {"uid", request.user.uid},
                                {"groups", string_list(request.user.groups)}});
    for (const auto& [key, values] : request.user.extra) user["extra"][key] = string_list(values);
    body["status"]["userInfo"] = std::move(user);
  } else if (resource.kind == "TokenReview") {
    body["status"] = review_token(body);
  } else if (resource.kind == "SelfSubjectRulesReview") {
    body["status"] = review_rules(request, body);
    body["spec"] = Value::object();
  } else {
    if (resource.namespaced) set_namespace(request, body);
    body["status"] = review_access(request, body);
  }
  const StoredObject answer = services_.codec.from_value(*resource.type, body);
  return make_response(201, request.output.content_type(),
                       encode_as(request.output, answer.type(), answer.data()));
}

}  // namespace kube::testkit::detail
