// SPDX-License-Identifier: Apache-2.0
#include "deployment.hpp"

#include <kube/api/owner_references.hpp>

#include <fmt/format.h>

namespace sample {

std::string message_resource_exists(std::string_view deployment) {
  return fmt::format("Deployment \"{}\" exists already and does not belong to this Foo",
                     deployment);
}

Deployment desired_deployment(const Foo& foo) {
  const auto put_labels = [&](kube::Map<kube::String>& labels) {
    labels["app"] = "nginx";
    labels["controller"] = foo.metadata.name;
  };
  Deployment deployment;
  deployment.metadata.name = *foo.spec.deployment_name;
  deployment.metadata.namespace_ = foo.metadata.namespace_;
  kube::set_controller_reference(foo, deployment);
  deployment.spec.replicas = foo.spec.replicas;
  put_labels(deployment.spec.selector.emplace().match_labels);
  put_labels(deployment.spec.template_.metadata.labels);
  deployment.spec.template_.spec.containers.push_back({.name = "nginx", .image = "nginx:latest"});
  return deployment;
}

}  // namespace sample
