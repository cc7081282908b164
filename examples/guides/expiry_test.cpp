// SPDX-License-Identifier: Apache-2.0
// A controller that deletes ConfigMaps when their time is up, and its tests: with a fake clock, with faults, with the
// permissions that it is installed with, and of an informer without a server. docs/guides/test-a-controller.md quotes them.
#include <kube/api/core/v1.hpp>
#include <kube/kube.hpp>
#include <kube/testkit/api_server.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/testkit/fake_source.hpp>

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;
using kube::core::v1::ConfigMap;

/// Deletes each ConfigMap with the label "expires" an hour after its creation.
void add_expiry_controller(kube::Manager& manager) {
  manager.controller<ConfigMap>("expiry").reconcile(
      [&manager](const kube::Request& request, std::stop_token stop) {
        const auto map = manager.find<ConfigMap>(request.key, stop);
        if (!map || map->metadata.labels.find("expires") == nullptr) return kube::done();
        const auto age = manager.clock().wall_now() - map->metadata.creation_timestamp.time_point();
        if (age < 1h) return kube::requeue_after(1h - age);
        manager.client()
            .resource<ConfigMap>(request.key.namespace_)
            .delete_(request.key.name, {}, stop);
        return kube::done();
      });
}

int failures = 0;

void check(bool good, std::string_view what) {
  fmt::print("{}  {}\n", good ? "ok    " : "FAILED", what);
  if (!good) ++failures;
}

ConfigMap expiring(std::string_view name) {
  return {.metadata = {.name = name, .namespace_ = "default", .labels = {{"expires", "yes"}}}};
}

void deletes_after_an_hour() {
  kube::testkit::FakeClock clock;
  kube::testkit::ApiServer server{{.clock = &clock}};
  kube::Manager manager{server.config(), {.clock = &clock}};
  add_expiry_controller(manager);
  const std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  server.create(expiring("session"));
  const auto hour = clock.now() + 1h;
  check(clock.wait_for_sleeper_until(hour), "the request waits for the hour to pass");
  check(server.find<ConfigMap>("default", "session") != nullptr, "the ConfigMap is there");

  clock.advance(1h);
  check(server.wait_for([&] { return !server.find<ConfigMap>("default", "session"); }),
        "it is deleted after an hour");
}

void survives_faults() {
  kube::testkit::FakeClock clock;
  kube::testkit::ApiServer server{{.clock = &clock}};
  server.faults().next(2).matching({.verb = "delete"}).respond(500);
  server.faults().next(3).matching({.verb = "watch"}).drop_after(1);
  kube::Manager manager{server.config(), {.clock = &clock}};
  add_expiry_controller(manager);
  const std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  ConfigMap old = expiring("session");
  old.metadata.creation_timestamp = clock.wall_now() - 2h;
  server.create(old);
  check(clock.advance_until([&] { return !server.find<ConfigMap>("default", "session"); }),
        "it is deleted although two deletions fail and watches break");
  check(server.requests().wait_for({.verb = "delete", .resource = "configmaps"}, 3),
        "at the third try");
}

/// What the controller is installed with.
constexpr std::string_view kPermissions = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: expiry, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: expiry}
rules:
  - {apiGroups: [""], resources: [configmaps], verbs: [list, watch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: expiry}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: expiry}
subjects: [{kind: ServiceAccount, name: expiry, namespace: default}]
)";

void has_all_permissions() {
  kube::testkit::FakeClock clock;
  kube::testkit::ApiServer server{{.rbac = true, .clock = &clock}};
  server.load_yaml(kPermissions);
  kube::Manager manager{server.config_for_account("default", "expiry"), {.clock = &clock}};
  add_expiry_controller(manager);
  const std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  ConfigMap old = expiring("session");
  old.metadata.creation_timestamp = clock.wall_now() - 2h;
  server.create(old);
  check(clock.advance_until([&] { return !server.find<ConfigMap>("default", "session"); }),
        "it is deleted with the permissions of the manifest");
  for (const auto& request : server.requests().entries()) {
    check(request.status != 403,
          fmt::format("{} {} is allowed", request.info.verb, request.info.resource));
  }
}

void handler_sees_a_missed_deletion() {
  const auto source = std::make_shared<kube::testkit::FakeSource<ConfigMap>>();
  kube::testkit::FakeClock clock;
  kube::SharedIndexInformer<ConfigMap> informer{source, {.clock = &clock}};
  std::atomic<bool> missed = false;
  informer.add_event_handler({.on_delete = [&](const kube::Deleted<ConfigMap>& gone) {
    missed = !gone.final_state_known;
  }});
  source->add(expiring("session"));
  const std::jthread running{[&](std::stop_token stop) { informer.run(std::move(stop)); }};
  check(informer.synced().wait({}), "the cache is filled");

  source->erase_silently({"default", "session"});
  source->expire_watches();  // the informer has to list again
  check(clock.advance_until([&] { return missed.load(); }), "the handler gets a tombstone");
}

}  // namespace

int main() {
  deletes_after_an_hour();
  survives_faults();
  has_all_permissions();
  handler_sees_a_missed_deletion();
  return failures == 0 ? 0 : 1;
}
