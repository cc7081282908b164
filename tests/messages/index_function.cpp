// SPDX-License-Identifier: Apache-2.0
// says: an index function takes (const T& object)
#include <kube/api/core/v1.hpp>
#include <kube/cache/indexer.hpp>

#include <string>

using kube::core::v1::Pod;

kube::Indexers<Pod> indexers{
    {"node", [](const Pod& pod) -> std::string { return pod.spec.node_name.str(); }}};
