// SPDX-License-Identifier: Apache-2.0
// says: a member of a slim type has the type of the full one, or a slim struct instead of a struct
#include <kube/api/core/v1.hpp>
#include <kube/object/slim.hpp>

struct Place {
  kube::Bytes node_name;
};

const kube::Type type =
    kube::slim(kube::keep(&Place::node_name, &kube::core::v1::PodSpec::node_name));
