// SPDX-License-Identifier: Apache-2.0
// says: and returns a kube::Result, such as kube::done()
#include <kube/controller/controller_builder.hpp>

void build(kube::ControllerBuilder& builder) {
  builder.reconcile([](const kube::Request&) {});
}
