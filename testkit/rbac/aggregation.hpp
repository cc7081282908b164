// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/rbac/v1.hpp>

#include <vector>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Returns the ClusterRoles whose rules differ from those of the roles that their aggregationRule
/// selects (RB-29): the name, and the rules that the role has to get.
[[nodiscard]] std::vector<rbac::v1::ClusterRole> outdated_aggregations(Store& store);

}  // namespace kube::testkit::detail
