// SPDX-License-Identifier: Apache-2.0
// says: an index function takes (const T& object)
#include <kube/api/core/v1.hpp>
#include <kube/controller/manager.hpp>

#include <string>
#include <vector>

using kube::core::v1::Node;
using kube::core::v1::Pod;

void index(kube::Manager& manager) {
  manager.index_field<Pod>("spec.nodeName", [](const Node&) { return std::vector<std::string>{}; });
}
