// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Allocates a cluster IP that is not in use for a new service without one. Headless and
/// ExternalName services get none.
void choose_cluster_address(Store& store, Value& service);

/// Throws ApiError 422 if a new service has an address that is in use, or outside of the range of
/// cluster IPs. A dry run checks only the range, as a real server does.
void check_cluster_address(Store& store, const Value& service, bool dry_run);

}  // namespace kube::testkit::detail
