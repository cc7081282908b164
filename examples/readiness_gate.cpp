// SPDX-License-Identifier: Apache-2.0
// A controller that writes a status by server-side apply: pods with the readiness gate
// "example.com/warm" become ready when they have the annotation of that name. It owns one condition
// of each pod; the kubelet owns the others. Neither can overwrite the other or cause conflicts.
//   readiness_gate          for the cluster of the kubeconfig, until it is interrupted
//   readiness_gate --demo   shows it with an in-process server
#include <kube/api/conditions.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/manager.hpp>
#include <kube/controller/signals.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

using kube::core::v1::Pod;
using kube::core::v1::PodCondition;

constexpr std::string_view kGate = "example.com/warm";

bool has_gate(const Pod& pod) {
  return std::ranges::any_of(pod.spec.readiness_gates,
                             [](const auto& gate) { return gate.condition_type == kGate; });
}

void add_gate_controller(kube::Manager& manager) {
  manager.controller<Pod>("readiness-gate")
      .reconcile([&manager](const kube::Request& request, std::stop_token stop) {
        const auto pod = manager.find<Pod>(request.key, stop);  // from the cache
        if (!pod || pod->metadata.deletion_timestamp || !has_gate(*pod)) return kube::done();
        const bool warm = pod->metadata.annotations.find(kGate) != nullptr;
        const std::string_view status = warm ? "True" : "False";
        // Writing a new transition time on each reconcile would be a change and trigger the next
        // reconcile.
        if (kube::is_condition(pod->status.conditions, kGate, status)) return kube::done();

        // Built from scratch and not copied from the pod, because its fields are those that this
        // controller owns.
        Pod wanted{.metadata = {.name = request.key.name, .namespace_ = request.key.namespace_}};
        wanted.status.conditions = {PodCondition{.type = kGate,
                                                 .status = status,
                                                 .last_transition_time = manager.clock().wall_now(),
                                                 .reason = warm ? "Annotated" : "NotAnnotated"}};
        manager.client()
            .resource<Pod>(request.key.namespace_)
            .apply_status(wanted, {.field_manager = "readiness-gate", .force = true}, stop);
        return kube::done();
      });
}

int run(kube::Config config) {
  kube::Manager manager{std::move(config), {.leader_election = {.name = "readiness-gate"}}};
  add_gate_controller(manager);
  manager.run(kube::stop_on_signals());
  return 0;
}

int demo() {
  kube::testkit::ApiServer server;
  kube::Manager manager{server.config()};
  add_gate_controller(manager);
  const std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  Pod pod{.metadata = {.name = "web", .namespace_ = "default"}};
  pod.spec.containers = {{.name = "web", .image = "nginx"}};
  pod.spec.readiness_gates = {{.condition_type = kGate}};
  const auto pods = manager.client().resource<Pod>("default");
  pods.create(pod);
  pod.status.conditions = {PodCondition{.type = "PodScheduled", .status = "True"}};
  pods.update_status(pod, {.field_manager = "kubelet"});
  const auto condition = [&](std::string_view type) -> std::string {
    const auto now = server.find<Pod>("default", "web");
    const PodCondition* found = kube::find_condition(now->status.conditions, type);
    return found == nullptr ? "not there" : found->status.str();
  };
  const auto expect = [&](std::string_view wanted) {
    if (!server.wait_for([&] { return condition(kGate) == wanted; })) {
      throw std::runtime_error{condition(kGate)};
    }
    fmt::print("the condition is {}\n", wanted);
  };
  expect("False");
  pods.patch("web", kube::PatchType::kMerge,
             fmt::format(R"({{"metadata":{{"annotations":{{"{}":"yes"}}}}}})", kGate));
  expect("True");
  fmt::print("the kubelet's condition is still {}\n", condition("PodScheduled"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 && std::string_view{argv[1]} == "--demo" ? demo() : run(kube::load_config());
  } catch (const std::exception& error) {
    fmt::print(stderr, "readiness_gate: {}\n", error.what());
    return 1;
  }
}
