// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <vector>

namespace kube::testkit::detail {

/// Returns the default cluster roles and their bindings. The rules of large roles are abbreviated:
/// this server does not enforce them.
[[nodiscard]] std::vector<Value> default_cluster_roles();

}  // namespace kube::testkit::detail
