// SPDX-License-Identifier: Apache-2.0
// says: and returns std::vector<kube::Request>
#include <kube/api/core/v1.hpp>
#include <kube/controller/controller_builder.hpp>

using kube::core::v1::Secret;

void build(kube::ControllerBuilder& builder) {
  builder.watches<Secret>([](const Secret& secret) { return kube::key_of(secret); });
}
