// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/policies.hpp"

#include <kube/api/errors.hpp>
#include <kube/api/meta/v1.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testkit/cel/policy.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

/// Applies all policies to one write.
class PolicyCheck {
 public:
  PolicyCheck(Services& services, RestRequest& request, const AdmittedWrite& write)
      : asked_(services, request, write), request_(request), write_(write) {}

  void run(const Value& policy, const std::vector<Ref<Value>>& bindings) {
    const auto version = asked_.matched_version(policy["spec"]["matchConstraints"]);
    if (!version) return;
    std::optional<cel::Policy> compiled;
    for (const Ref<Value>& binding : bindings) {
      if ((*binding)["spec"]["policyName"] != Value{metadata_text(policy, "name")}) continue;
      if (!asked_.matches((*binding)["spec"]["matchResources"])) continue;
      if (!compiled) compiled.emplace(policy);
      bind(policy, *compiled, *binding, *version);
    }
  }

 private:
  void bind(const Value& policy, const cel::Policy& compiled, const Value& binding,
            const std::string& version) {
    if (!compiled.missing().empty()) {
      return asked_.not_evaluated("ValidatingAdmissionPolicy", policy, compiled);
    }
    if (!compiled.errors().empty()) {
      return broken(policy, binding, compiled.errors().front().message);
    }
    if (const std::string why = asked_.unknown_param_kind(policy); !why.empty()) {
      return unusable(policy, why);
    }
    const PolicyRequest::Seen seen = asked_.in_version(write_.object, version);
    std::string error;
    for (const Value& params : asked_.params_of(policy, binding, error)) {
      for (const cel::Policy::Denial& denial : compiled.evaluate(asked_.input(seen, params)))
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
    const bool is_named = !request_.name.empty() && request_.verb != "deletecollection";
    const std::string name = is_named ? request_.name : "Unknown";
    meta::v1::Status status =
        forbidden(request_.resource->group_resource(), name, message).status();
    status.reason = reason;
    status.code = reason == "Forbidden" ? 403 : reason == "RequestEntityTooLarge" ? 413 : 422;
    meta::v1::StatusCause cause;
    cause.message = message;
    status.details->causes.push_back(std::move(cause));
    throw ApiError{std::move(status)};
  }

  PolicyRequest asked_;
  RestRequest& request_;
  const AdmittedWrite& write_;
};

}  // namespace

void check_policies(Services& services, RestRequest& request, const AdmittedWrite& write) {
  if (is_exempt_from_policies(*request.resource)) return;
  const auto policies = admission_objects(services, "validatingadmissionpolicies");
  if (policies.empty()) return;
  const auto bindings = admission_objects(services, "validatingadmissionpolicybindings");
  if (bindings.empty()) return;
  PolicyCheck check{services, request, write};
  for (const Ref<Value>& policy : policies) check.run(*policy, bindings);
}

}  // namespace kube::testkit::detail
