// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/unsupported.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "testkit/cel/policy.hpp"
#include "testkit/cel/rules.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

std::vector<cel::MissingRule> missing_rules(const Value& definition) {
  std::vector<cel::MissingRule> missing;
  std::size_t i = 0;
  for (const Value& version : definition.get_array("spec.versions")) {
    const std::string field = fmt::format("spec.versions[{}].schema.openAPIV3Schema", i++);
    static_cast<void>(cel::check_rules(version["schema"]["openAPIV3Schema"], field,
                                       cel::CostLimits::kTotal, missing));
  }
  if (definition.get_string("spec.conversion.strategy") == "Webhook") {
    missing.push_back({"spec.conversion", "", "call conversion webhooks"});
  }
  return missing;
}

}  // namespace

void report_unsupported(RestRequest& request, bool strict, const Value& object) {
  const std::string id = request.resource->id();
  std::vector<cel::MissingRule> missing;
  if (id == "customresourcedefinitions.apiextensions.k8s.io") {
    missing = missing_rules(object);
  } else if (id == "validatingadmissionpolicies.admissionregistration.k8s.io" ||
             id == "mutatingadmissionpolicies.admissionregistration.k8s.io") {
    missing = cel::Policy{object}.missing();
  } else if (id == "validatingwebhookconfigurations.admissionregistration.k8s.io" ||
             id == "mutatingwebhookconfigurations.admissionregistration.k8s.io") {
    if (!object.get_array("webhooks").empty()) {
      missing.push_back({"webhooks", "", "call admission webhooks"});
    }
  } else if (id == "apiservices.apiregistration.k8s.io") {
    if (object["spec"]["service"].is_object()) {
      missing.push_back({"spec.service", "", "call aggregated API servers"});
    }
  }
  std::vector<FieldError> errors;
  for (const cel::MissingRule& one : missing) {
    const std::string text = one.expression.empty()
                                 ? "this server does not " + one.function
                                 : cel::not_evaluated(one.expression, one.function);
    if (strict) {
      errors.push_back(forbidden_value(one.field, text));
    } else {
      request.warn(one.field + ": " + text);
    }
  }
  if (!errors.empty()) {
    throw invalid(request.resource->group_kind(), metadata_text(object, "name"), errors);
  }
}

}  // namespace kube::testkit::detail
