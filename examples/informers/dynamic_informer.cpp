// SPDX-License-Identifier: Apache-2.0
// An informer of a resource that is known only by name at run time, such as a custom resource:
// objects are JSON documents. Shows each object and its changes, until it is interrupted.
//
// Usage: dynamic_informer GROUP VERSION RESOURCE    (the group of pods is "")
#include <kube/api/object_key.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>
#include <kube/informers/resource_informer_factory.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <string>

namespace {

void show(const char* what, const kube::Value& object) {
  const kube::Value* replicas = object.find("spec.replicas");
  fmt::print("{:<8} {}{}\n", what, object["metadata"]["name"].as_string(),
             replicas != nullptr ? fmt::format(", {} replicas", replicas->as_integer()) : "");
  std::fflush(stdout);
}

void run(const kube::GroupVersionResource& resource) {
  const auto stop = kube::stop_on_signals();
  kube::DynamicInformerFactory factory{kube::Client{kube::load_config()}};
  factory.for_resource(resource).informer().add_event_handler({
      .on_add = [](const kube::Value& now) { show("there", now); },
      .on_update = [](const kube::Value&, const kube::Value& now) { show("changed", now); },
      .on_delete =
          [](const kube::Deleted<kube::Value>& gone) {
            fmt::print("{:<8} {}\n", "gone", gone.key.name);
            std::fflush(stdout);
          },
  });
  factory.start(stop);
  // Only the server knows whether a resource exists, and it may be defined later.
  const kube::CacheSync sync = factory.wait_for_cache_sync(stop, std::chrono::seconds{30});
  if (!sync) fmt::print(stderr, "{}\n", sync.message());
  stop.wait();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    fmt::print(stderr, "usage: dynamic_informer GROUP VERSION RESOURCE\n");
    return 2;
  }
  run({argv[1], argv[2], argv[3]});
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "dynamic_informer: {}\n", error.what());
  return 1;
}
