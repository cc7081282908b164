// SPDX-License-Identifier: Apache-2.0
#include "greeting.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/kube.hpp>

#include <exception>
#include <iostream>
#include <stop_token>

using example::v1::Greeting;
using kube::core::v1::ConfigMap;

namespace {

/// Compares what the user wants with what exists, and writes the difference.
kube::Result reconcile(kube::Manager& manager, const kube::Request& request,
                       const std::stop_token& stop) {
  const kube::Ref<Greeting> greeting = manager.find<Greeting>(request.key, stop);
  if (!greeting) return kube::done();  // deleted; the garbage collector deletes the ConfigMap
  const std::string message = "Hello, " + greeting->spec.recipient.str() + "!";

  ConfigMap wanted{.metadata = {.name = request.key.name, .namespace_ = request.key.namespace_}};
  wanted.data["message"] = message;
  kube::apply_controlled(manager.client(), *greeting, wanted, "greeting-operator", stop);

  Greeting changed = *greeting;
  changed.status.message = message;
  kube::patch_status(manager.client(), *greeting, changed, {}, stop);
  std::cout << request.key.str() << ": " << message << std::endl;
  return kube::done();
}

}  // namespace

int main() try {
  kube::Manager manager{kube::load_config()};  // KUBECONFIG, ~/.kube/config, or in a pod
  manager.controller<Greeting>("greeting")
      .owns<ConfigMap>()
      .reconcile([&](const kube::Request& request, std::stop_token stop) {
        return reconcile(manager, request, stop);
      });
  manager.run(kube::stop_on_signals());
} catch (const std::exception& error) {
  std::cerr << "greeting-operator: " << error.what() << std::endl;
  return 1;
}
