// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "common/rate_limiter.hpp"
#include "reconciler.hpp"

#include <kube/controller/predicates.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace sample {
namespace {

using namespace std::chrono_literals;

kube::ManagerOptions manager_options(const RunOptions& options) {
  kube::ManagerOptions made{.cache = {.sync_period = 30s},
                            .max_concurrent_reconciles = options.workers,
                            .log = options.log,
                            .clock = options.clock};
  if (options.metrics) made.metrics = options.metrics;
  if (options.leader_elect) {
    made.leader_election = {.name = std::string{kAgentName},
                            .namespace_ = options.lease_namespace,
                            .identity = options.identity,
                            .release_on_cancel = true};
  }
  return made;
}

}  // namespace

void run_builder(const kube::Config& config, const RunOptions& options, std::stop_token stop) {
  kube::Manager manager{config, manager_options(options)};
  const FooReconciler reconciler{manager};
  manager.controller<Foo>("foo")
      .owns<Deployment>({.predicates = {kube::resource_version_changed<Deployment>()}})
      .with_options({.rate_limiter = rate_limiter<kube::Request>(*options.clock)})
      .reconcile([&](const kube::Request& request, const std::stop_token& ending) {
        return reconciler.reconcile(request, ending);
      });
  manager.run(std::move(stop));
}

}  // namespace sample
