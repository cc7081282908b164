// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>

#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// A write, as seen by admission.
struct AdmittedWrite {
  std::string_view operation;  ///< CREATE, UPDATE or DELETE
  const Value* object = nullptr;
  const Value* old_object = nullptr;
  bool dry_run = false;
};

/// Evaluates the ValidatingAdmissionPolicies bound to the request (AP-1 to AP-6). Throws ApiError,
/// by default 422, if one denies it; adds the warnings of bindings with the action Warn.
void check_policies(Services& services, RestRequest& request, const AdmittedWrite& write);

}  // namespace kube::testkit::detail
