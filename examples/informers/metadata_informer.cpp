// SPDX-License-Identifier: Apache-2.0
// Informers that keep only the metadata of objects: names, labels, owners. The server sends nothing
// else, so that, for example, a garbage collector can watch all resources. Counts the objects of
// several resources by owner, whenever one is added or deleted, until it is interrupted.
#include <kube/api/meta/v1.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>
#include <kube/informers/resource_informer_factory.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using kube::meta::v1::PartialObjectMetadata;

const std::vector<kube::GroupVersionResource> kResources{
    {"", "v1", "pods"}, {"", "v1", "configmaps"}, {"apps", "v1", "replicasets"}};

std::vector<std::string> owners(const PartialObjectMetadata& object) {
  std::vector<std::string> kinds;
  for (const auto& owner : object.metadata.owner_references) kinds.push_back(owner.kind.str());
  if (kinds.empty()) kinds.emplace_back("nobody");
  return kinds;
}

void show(const std::string& resource, const kube::Snapshot<PartialObjectMetadata>& objects) {
  for (const std::string& owner : objects.index_values("byOwner")) {
    fmt::print("{} of {}: {}\n", resource, owner, objects.index_keys("byOwner", owner).size());
  }
  std::fflush(stdout);
}

void run() {
  const auto stop = kube::stop_on_signals();
  kube::MetadataInformerFactory factory{kube::Client{kube::load_config()},
                                        {.leave_out = {"metadata.managedFields"}},
                                        {.indexers = {{"byOwner", owners}}}};
  for (const kube::GroupVersionResource& resource : kResources) {
    auto informer = factory.for_resource(resource).informer();
    const auto changed = [resource, objects = informer.indexer()] {
      show(resource.resource, objects.snapshot());  // one snapshot of the cache for all numbers
    };
    informer.add_event_handler({
        .on_add =
            [changed](const PartialObjectMetadata&, bool in_initial_list) {
              if (!in_initial_list) changed();
            },
        .on_delete = [changed](const kube::Deleted<PartialObjectMetadata>&) { changed(); },
    });
  }
  factory.start(stop);
  factory.wait_for_cache_sync(stop).or_throw();
  for (const kube::GroupVersionResource& resource : kResources) {
    show(resource.resource, factory.for_resource(resource).informer().indexer().snapshot());
  }
  stop.wait();
}

}  // namespace

int main() try {
  run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "metadata_informer: {}\n", error.what());
  return 1;
}
