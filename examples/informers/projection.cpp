// SPDX-License-Identifier: Apache-2.0
// A cache that keeps a few fields of each object. Other fields are skipped while the bytes arrive,
// before anything is allocated. Caches all pods twice, whole and projected, and compares the
// memory.
#include <kube/api/core/v1.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>
#include <kube/informers/shared_informer_factory.hpp>
#include <kube/object/ref.hpp>

#include <fmt/core.h>

namespace {

using kube::core::v1::Pod;

/// Returns the size of all cached pods, with the fields that the factory's projection keeps.
std::size_t bytes_of_pods(const kube::SharedInformerFactory& factory) {
  std::size_t bytes = 0;
  for (const kube::Ref<Pod>& pod : factory.lister<Pod>().list()) {
    const kube::ObjectBytes cost = kube::bytes_of(pod);
    bytes += cost.own + cost.shared;
  }
  return bytes;
}

void run() {
  const auto stop = kube::stop_on_signals();
  kube::Client client{kube::load_config()};

  kube::SharedInformerFactory whole{client};
  whole.informer<Pod>();
  kube::SharedInformerFactory part{client};
  part.configure<Pod>({.projection = kube::fields<Pod>(
                           "metadata.name", "metadata.namespace", "metadata.resourceVersion",
                           "metadata.labels", "spec.nodeName", "status.podIP")});
  const auto placements = part.core().v1().pods().lister();

  for (kube::SharedInformerFactory* factory : {&whole, &part}) {
    factory->start(stop);
    factory->wait_for_cache_sync(stop).or_throw();
  }
  for (const kube::Ref<Pod>& pod : placements.list()) {
    fmt::print("{}/{} on {}\n", pod->metadata.namespace_.view(), pod->metadata.name.view(),
               pod->spec.node_name.view());
  }
  fmt::print("{} bytes whole, {} bytes in part\n", bytes_of_pods(whole), bytes_of_pods(part));
}

}  // namespace

int main() try {
  run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "projection: {}\n", error.what());
  return 1;
}
