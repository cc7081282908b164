// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <functional>

#include "testkit/admission/policy_request.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// The steps of a write that follow changes by policies. They throw ApiError or CodecError.
struct MutationSteps {
  std::function<void(Value&)> complete;  ///< drops unknown fields and adds defaults
  std::function<void(Value&)> admit;     ///< the other plugins that change objects
};

/// Applies the MutatingAdmissionPolicies bound to the request to `object`, which `write` describes
/// (AP-8 to AP-10). Throws ApiError 403 if one fails.
void mutate_by_policies(Services& services, RestRequest& request, const AdmittedWrite& write,
                        Value& object, const MutationSteps& steps);

}  // namespace kube::testkit::detail
