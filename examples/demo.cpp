// SPDX-License-Identifier: Apache-2.0
// What `make run` shows: an API server in this process, a client that follows the pods on it, and a Deployment
// from its beginning to its end. Takes a few seconds.
#include <kube/api/apps/v1.hpp>
#include <kube/api/autoscaling/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/discovery.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;
using kube::apps::v1::Deployment;
using kube::core::v1::Pod;

void say(std::string_view what) {
  fmt::print("\n== {}\n", what);
  std::fflush(stdout);
}

Deployment web(int replicas) {
  Deployment deployment;
  deployment.metadata.name = "web";
  deployment.metadata.namespace_ = "default";
  deployment.spec.replicas = replicas;
  deployment.spec.selector.emplace().match_labels = {{"app", "web"}};
  deployment.spec.template_.metadata.labels = {{"app", "web"}};
  deployment.spec.template_.spec.containers.push_back({.name = "main", .image = "nginx:1.29"});
  return deployment;
}

/// Prints what happens to pods, until a stop, and counts those that are gone.
void follow_pods(const kube::Resource<Pod>& pods, std::atomic<int>& gone,
                 const std::stop_token& stop) {
  auto watch = pods.watch({.allow_watch_bookmarks = true}, stop);
  while (const auto event = watch.next(stop)) {
    if (event->object == nullptr || event->type == kube::EventType::kBookmark) continue;
    const Pod& pod = *event->object;
    fmt::print("   {:<9} {:<24} {:<10} {}\n", to_string(event->type), pod.metadata.name.view(),
               pod.status.phase.view(), pod.spec.node_name.view());
    std::fflush(stdout);
    if (event->type == kube::EventType::kDeleted) ++gone;
  }
}

void wait_for(const kube::testkit::ApiServer& server, std::string_view what,
              const std::function<bool()>& condition) {
  if (!server.wait_for(condition, 20s))
    throw std::runtime_error{fmt::format("no {} in 20 s", what)};
}

void run() {
  kube::testkit::ApiServer server{{.simulate = true}};
  const kube::Client client{server.config()};
  const auto deployments = client.apps().v1().deployments("default");
  const auto running = [&](std::int32_t count) {
    return [&server, count] {
      const auto deployment = server.find<Deployment>("default", "web");
      return deployment && deployment->status.ready_replicas == count &&
             server.count<Pod>("default") == static_cast<std::size_t>(count);
    };
  };
  say(fmt::format("an API server at {}, Kubernetes {}", server.url(),
                  kube::Discovery{client}.server_version().git_version));
  std::atomic<int> gone = 0;
  std::jthread follower{[&](const std::stop_token& stop) {
    try {
      follow_pods(client.core().v1().pods("default"), gone, stop);
    } catch (const std::exception& error) {
      fmt::print(stderr, "demo: the watch ended: {}\n", error.what());
    }
  }};

  say("create Deployment web with 3 replicas");
  deployments.create(web(3));
  wait_for(server, "3 pods that run", running(3));

  say("scale it to 5");
  kube::autoscaling::v1::Scale scale = *deployments.get_scale("web");
  scale.spec.replicas = 5;
  deployments.update_scale("web", scale);
  wait_for(server, "5 pods that run", running(5));

  say("delete it; garbage collection does the rest");
  deployments.delete_("web", {.propagation_policy = "Foreground"});
  wait_for(server, "end of the pods", [&] { return gone == 5; });

  say(fmt::format("done at revision {}", server.revision()));
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "demo: {}\n", error.what());
    return 1;
  }
}
