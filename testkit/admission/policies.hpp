// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/admission/policy_request.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Evaluates the ValidatingAdmissionPolicies bound to the request (AP-1 to AP-6). Throws ApiError,
/// by default 422, if one denies it; adds the warnings of bindings with the action Warn.
void check_policies(Services& services, RestRequest& request, const AdmittedWrite& write);

}  // namespace kube::testkit::detail
