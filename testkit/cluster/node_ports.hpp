// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Gives the ports of a service that is reached through nodes their numbers (BK-9): those of `live`, which may be absent,
/// or free ones. Throws ApiError 422 if one that the client chose is taken or out of range.
void allocate_node_ports(Store& store, const Value& live, Value& service);

}  // namespace kube::testkit::detail
