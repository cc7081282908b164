// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/kinds/resource_catalog.hpp"

/// The objects of a new cluster (BK-8).
namespace kube::testkit::detail {

/// Returns the objects in the order in which they are stored. `catalog` determines the groups of
/// APIServices.
[[nodiscard]] std::vector<Value> cluster_objects(const Catalog& catalog);

/// Returns the objects of a new namespace, as a controller manager creates them: the default
/// service account, and a ConfigMap with the CA certificate for pods, which is empty without TLS.
[[nodiscard]] std::vector<Value> namespace_objects(std::string_view namespace_,
                                                   std::string_view ca_pem);

/// Returns the EndpointSlice and the Endpoints of the Service default/kubernetes.
[[nodiscard]] std::vector<Value> server_endpoints(std::string_view address, int port);

}  // namespace kube::testkit::detail
