// SPDX-License-Identifier: Apache-2.0
// A controller: each namespace with the label "team" gets a ConfigMap with the team's contact. The
// controller restores the ConfigMap if it is changed or deleted; it is deleted with its namespace,
// or when the label is removed.
//   controller          for the cluster of the kubeconfig, until it is interrupted
//   controller --demo   shows it with an in-process server
#include <kube/api/core/v1.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/create_or_update.hpp>
#include <kube/controller/manager.hpp>
#include <kube/controller/signals.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

using kube::core::v1::ConfigMap;
using kube::core::v1::Namespace;

constexpr const char* kName = "contact";

void add_contact_controller(kube::Manager& manager) {
  manager.controller<Namespace>("contact")
      .owns<ConfigMap>()
      .with_event_filter(kube::resource_version_changed<kube::meta::v1::ObjectMeta>())
      .with_options({.max_concurrent_reconciles = 4})
      .reconcile([&manager](const kube::Request& request, std::stop_token stop) {
        const auto space = manager.find<Namespace>(request.key, stop);  // from the cache
        if (!space || space->metadata.deletion_timestamp) return kube::done();
        const kube::String* team = space->metadata.labels.find("team");
        if (team == nullptr) {
          const kube::ObjectKey key{request.key.name, kName};
          const auto map = manager.find<ConfigMap>(key, stop);
          if (map && kube::is_controlled_by(*map, *space))
            manager.client().resource<ConfigMap>(key.namespace_).delete_(key.name, {}, stop);
          return kube::done();
        }
        ConfigMap wanted{.metadata = {.name = kName, .namespace_ = request.key.name}};
        wanted.data["mail"] = team->str() + "@example.com";
        kube::apply_controlled(manager.client(), *space, wanted, "contact-controller", stop);
        return kube::done();
      });
}

int run(kube::Config config) {
  kube::Manager manager{std::move(config),
                        {.leader_election = {.name = "contact-controller"},
                         .cache = {.by_object = {kube::cached<ConfigMap>(
                                       {.field_selector = "metadata.name=contact"})},
                                   .leave_out = {"metadata.managedFields"}},
                         .metrics_address = "127.0.0.1:8080",
                         .health_address = ":8081"}};
  manager.add_healthz_check("leaderElection", manager.leader_election_check());
  manager.add_readyz_check("ping", kube::ping());
  add_contact_controller(manager);
  manager.run(kube::stop_on_signals());
  return 0;
}

int demo() {
  kube::testkit::ApiServer server;
  kube::Manager manager{server.config()};
  add_contact_controller(manager);
  const std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  server.create(Namespace{.metadata = {.name = "shop", .labels = {{"team", "web"}}}});
  const auto mail = [&] {
    const auto map = server.find<ConfigMap>("shop", kName);
    return map && map->data.find("mail") != nullptr ? map->data.at("mail").str() : "nobody";
  };
  const auto expect = [&](std::string_view wanted) {
    if (!server.wait_for([&] { return mail() == wanted; })) throw std::runtime_error{mail()};
    fmt::print("the contact of shop is {}\n", wanted);
  };
  expect("web@example.com");
  server.remove<ConfigMap>("shop", kName);
  expect("web@example.com");
  const auto set_team = [&](std::string_view team) {
    manager.client().resource<Namespace>().patch(
        "shop", kube::PatchType::kMerge,
        fmt::format(R"({{"metadata":{{"labels":{{"team":{}}}}}}})", team));
  };
  set_team(R"("db")");
  expect("db@example.com");
  set_team("null");
  expect("nobody");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 && std::string_view{argv[1]} == "--demo" ? demo() : run(kube::load_config());
  } catch (const std::exception& error) {
    fmt::print(stderr, "controller: {}\n", error.what());
    return 1;
  }
}
