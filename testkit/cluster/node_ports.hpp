// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Allocates the node ports of a service (BK-9): those of `live`, which may be absent, or free
/// ones. Throws ApiError 422 if a port chosen by the client is in use or out of range.
void allocate_node_ports(Store& store, const Value& live, Value& service);

}  // namespace kube::testkit::detail
