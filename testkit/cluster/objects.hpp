// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/kinds/resource_catalog.hpp"

/// The objects that a cluster has before anybody creates one (BK-8).
namespace kube::testkit::detail {

/// In the order in which they are to be stored. `catalog` says which groups are served.
[[nodiscard]] std::vector<Value> cluster_objects(const Catalog& catalog);

/// The objects of each new namespace, as a controller manager makes them: the default service account, and the certificate of the
/// server's authority for pods, which is empty without TLS.
[[nodiscard]] std::vector<Value> namespace_objects(std::string_view namespace_,
                                                   std::string_view ca_pem);

/// The address that the Service default/kubernetes leads to.
[[nodiscard]] Value server_endpoints(std::string_view address, int port);

}  // namespace kube::testkit::detail
