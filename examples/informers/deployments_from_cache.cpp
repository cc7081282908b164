// SPDX-License-Identifier: Apache-2.0
// A shared factory: informers and listers of several types, each filled by one list and watch.
// Shows the deployments of a namespace with their pods, from the caches, and then changes of
// deployments, until it is interrupted.
//
// Usage: deployments_from_cache [NAMESPACE]
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/object_key.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using kube::apps::v1::Deployment;

void say(std::string_view what, const Deployment& deployment) {
  fmt::print("{:<10} {} with {} of {} replicas ready\n", what, kube::key_of(deployment).str(),
             deployment.status.ready_replicas, deployment.spec.replicas.value_or(1));
  std::fflush(stdout);
}

void run(std::string_view namespace_) {
  const auto stop = kube::stop_on_signals();
  kube::Client client{kube::load_config()};
  kube::SharedInformerFactory factory{client, {.resync = 30s}};

  const auto deployments = factory.apps().v1().deployments();
  const auto pods = factory.core().v1().pods().lister();
  deployments.informer().add_event_handler({
      .on_add = [](const Deployment& now,
                   bool in_initial_list) { say(in_initial_list ? "exists" : "created", now); },
      .on_update =
          [](const Deployment& before, const Deployment& now) {
            // A resync delivers unchanged objects, too.
            if (before.metadata.resource_version != now.metadata.resource_version) {
              say("changed", now);
            }
          },
      .on_delete =
          [](const kube::Deleted<Deployment>& gone) {
            fmt::print("{:<10} {}\n", "deleted", gone.key.str());
          },
  });

  factory.start(stop);
  factory.wait_for_cache_sync(stop).or_throw();

  for (const auto& deployment : deployments.lister().in_namespace(namespace_).list()) {
    const auto selector = kube::to_selector(deployment->spec.selector);
    const auto owned = pods.in_namespace(deployment->metadata.namespace_).list(selector);
    fmt::print("{} has {} pods\n", deployment->metadata.name.view(), owned.size());
  }
  std::fflush(stdout);
  stop.wait();
}

}  // namespace

int main(int argc, char** argv) try {
  run(argc > 1 ? argv[1] : "");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "deployments_from_cache: {}\n", error.what());
  return 1;
}
