// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Checks that a new or changed role or binding gives nobody rights that its writer does not have
/// (RB-24 to RB-28). `live` is the stored object, or null. Does nothing for other kinds and without
/// RBAC. Throws ApiError 403, or 404 if the role of a binding does not exist.
void check_escalation(Services& services, const RestRequest& request, const Value* live,
                      const Value& object);

}  // namespace kube::testkit::detail
