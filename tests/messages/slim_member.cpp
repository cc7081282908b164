// SPDX-License-Identifier: Apache-2.0
// says: nodename
#include <kube/api/core/v1.hpp>
#include <kube/object/slim.hpp>

struct Place {
  kube::String node_name;
};

const kube::Type type =
    kube::slim(kube::keep(&Place::node_name, &kube::core::v1::PodSpec::nodename));
