// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <vector>

namespace kube::testkit::detail {

/// Returns the default cluster roles and their bindings, except for those of single controllers.
/// The rules of aggregated roles are filled in.
[[nodiscard]] std::vector<Value> default_cluster_roles();

}  // namespace kube::testkit::detail
