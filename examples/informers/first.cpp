// SPDX-License-Identifier: Apache-2.0
// The first example of README.md: deployments, from a cache that follows the server.
#include <kube/api/apps/v1.hpp>
#include <kube/kube.hpp>

#include <iostream>

using kube::apps::v1::Deployment;

int main() try {
  const auto stop = kube::stop_on_signals();
  kube::Client client{kube::load_config()};  // KUBECONFIG, ~/.kube/config, or in a pod
  kube::SharedInformerFactory factory{client};

  const auto deployments = factory.apps().v1().deployments();
  deployments.informer().add_event_handler({
      .on_update =
          [](const Deployment& before, const Deployment& now) {
            std::cout << now.metadata.name << ": " << before.status.ready_replicas << " -> "
                      << now.status.ready_replicas << " ready" << std::endl;
          },
  });
  factory.start(stop);
  factory.wait_for_cache_sync(stop).or_throw();

  for (const auto& deployment : deployments.lister().in_namespace("default").list())
    std::cout << deployment->metadata.name << std::endl;
  stop.wait();
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
