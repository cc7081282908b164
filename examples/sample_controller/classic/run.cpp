// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "controller.hpp"

#include <kube/base/error.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/lease_lock.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace sample {
namespace {

using namespace std::chrono_literals;

kube::FactoryOptions factory_options(const RunOptions& options, std::string name) {
  return {.resync = 30s,
          .metrics = options.metrics,
          .name = std::move(name),
          .clock = options.clock,
          .log = options.log};
}

void work(const kube::Client& client, const RunOptions& options, const std::stop_token& stop) {
  // One factory for built-in types and one for our own types, as in Go.
  kube::SharedInformerFactory kube_factory{client, factory_options(options, "kubernetes")};
  kube::SharedInformerFactory sample_factory{client, factory_options(options, "samples")};
  Controller controller{client,
                        kube_factory.apps().v1().deployments(),
                        sample_factory.resource<Foo>(),
                        {.log = options.log, .metrics = options.metrics, .clock = options.clock}};

  kube_factory.start(stop);
  sample_factory.start(stop);
  controller.run(options.workers, stop);
}

}  // namespace

void run_classic(const kube::Config& config, const RunOptions& options,
                 const std::stop_token& stop) {
  const kube::Client client{
      config, {.clock = options.clock, .log = options.log, .metrics = options.metrics}};
  if (!options.leader_elect) return work(client, options, stop);

  kube::LeaderElectionOptions election{
      .release_on_cancel = true,
      .name = std::string{kAgentName},
      .on_started_leading = [&](const std::stop_token& leading) { work(client, options, leading); },
      .on_stopped_leading = [] {},
      .on_new_leader =
          [&](const std::string& who) {
            options.log.info("the leader is {}", who.empty() ? "nobody" : who);
          },
      .clock = options.clock,
      .log = options.log,
      .metrics = options.metrics};
  // A separate client: renewing the Lease must not wait for the controller's requests.
  const kube::Client election_client{kube::election_config(config, election.renew_deadline),
                                     {.clock = options.clock}};
  auto lock = std::make_shared<kube::LeaseLock>(
      election_client, kube::LeaseLockOptions{.namespace_ = options.lease_namespace,
                                              .name = std::string{kAgentName},
                                              .identity = options.identity,
                                              .clock = options.clock});
  kube::LeaderElector{std::move(lock), std::move(election)}.run(stop);
  // After losing the Lease the state of unfinished work is unknown, so the process ends and starts
  // again.
  if (!stop.stop_requested()) throw kube::Error{"lost the Lease; another replica may lead now"};
}

}  // namespace sample
