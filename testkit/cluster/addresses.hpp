// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Gives a new service without an address one that no other service has. Headless services and mere names get none.
void choose_cluster_address(Store& store, Value& service);

/// Refuses a new service with an address that another one has (422).
void check_cluster_address(Store& store, const Value& service);

}  // namespace kube::testkit::detail
