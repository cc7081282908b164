// SPDX-License-Identifier: Apache-2.0
// says: a transform is void(T& object)
#include <kube/api/core/v1.hpp>
#include <kube/cache/transform.hpp>

using kube::core::v1::Node;
using kube::core::v1::Pod;

kube::Transform<Pod> transform = [](Node&) {};
