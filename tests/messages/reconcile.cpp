// SPDX-License-Identifier: Apache-2.0
// says: a reconcile function takes (const kube::Request& request)
#include <kube/controller/controller_builder.hpp>

void build(kube::ControllerBuilder& builder) {
  builder.reconcile([](const std::string&) { return kube::done(); });
}
