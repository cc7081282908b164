// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <vector>

namespace kube::testkit::detail {

/// The cluster roles that every cluster has under well-known names, and their bindings. Rules of the larger ones are
/// shortened: this server does not enforce them.
[[nodiscard]] std::vector<Value> default_cluster_roles();

}  // namespace kube::testkit::detail
