// SPDX-License-Identifier: Apache-2.0
// Reads lists recorded from an API server as if they arrived in small chunks, and prints their
// content and their size in memory. Usage: read_objects FOLDER (with files such as
// core_v1_pods.pb).
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/object_key.hpp>
#include <kube/codec/list_reader.hpp>
#include <kube/object/pool.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

/// Reads one recorded list and prints a line per object. Returns the number of objects.
template <typename T>
std::size_t show(const std::filesystem::path& folder, const std::shared_ptr<kube::Pool>& pool) {
  const kube::ResourceInfo& resource = T::kube_resource;
  const std::string name =
      fmt::format("{}_{}_{}.pb", resource.group.empty() ? "core" : resource.group, resource.version,
                  resource.plural);
  std::ifstream file{folder / name, std::ios::binary};
  if (!file) return 0;

  kube::ListReader<T> reader{kube::Format::kProtobuf, {.pool = pool}};
  std::vector<kube::Ref<T>> objects;
  std::vector<char> chunk(1024);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    reader.feed({chunk.data(), static_cast<std::size_t>(file.gcount())},
                [&](kube::Ref<T> object) { objects.push_back(std::move(object)); });
  }
  const kube::ListMetadata& head = reader.finish();

  fmt::print("{} {} at resource version {}\n", head.api_version, head.kind, head.resource_version);
  for (const kube::Ref<T>& object : objects) {
    fmt::print("  {:<40} created {}  {:>5} bytes in memory\n", kube::key_of(*object).str(),
               object->metadata.creation_timestamp.str(), kube::bytes_of(object).own);
  }
  return objects.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc == 2 ? argv[1] : "";
  if (folder.empty() || folder.starts_with('-')) {
    fmt::print("usage: read_objects FOLDER\n\nReads the protobuf lists recorded in FOLDER.\n");
    return folder == "--help" || folder == "-h" ? 0 : 2;
  }
  try {
    const auto pool = std::make_shared<kube::Pool>();
    const std::size_t objects =
        show<kube::core::v1::Node>(folder, pool) + show<kube::core::v1::Namespace>(folder, pool) +
        show<kube::apps::v1::Deployment>(folder, pool) +
        show<kube::apps::v1::ReplicaSet>(folder, pool) + show<kube::core::v1::Pod>(folder, pool) +
        show<kube::core::v1::Service>(folder, pool) + show<kube::core::v1::ConfigMap>(folder, pool);
    if (objects == 0) {
      fmt::print(stderr, "read_objects: no recorded lists in {}\n", folder);
      return 1;
    }
    fmt::print("{} objects\n", objects);
  } catch (const kube::Error& error) {
    fmt::print(stderr, "read_objects: {}\n", error.what());
    return 1;
  }
  return 0;
}
