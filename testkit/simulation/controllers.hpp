// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

/// The controllers of the simulated cluster.
namespace kube::testkit::detail {

/// Creates the node `kubecxx-node` if there is none.
void ensure_node(Engine& engine);

[[nodiscard]] std::unique_ptr<SimulatedController> make_node_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_volume_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_claim_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_scheduler(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_pod_lifecycle(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_replica_set_controller(
    ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_stateful_set_controller(
    ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_daemon_set_controller(
    ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_job_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_deployment_controller(
    ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_cron_job_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_endpoints_controller(ClusterAccess cluster);
[[nodiscard]] std::unique_ptr<SimulatedController> make_disruption_budget_controller(
    ClusterAccess cluster);

}  // namespace kube::testkit::detail
