// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/api_server_impl.hpp"
#include "testkit/server/manifests.hpp"

#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kube::testkit {
namespace {

bool is_manifest(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in) throw Error(fmt::format("{}: cannot be read", file.string()));
  return text;
}

void store(detail::Engine& engine, const detail::Manifests& manifests, bool definitions) {
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (manifests.is_definition(i) != definitions) continue;
    const Ref<Value> object = manifests.object(i);
    try {
      if (definitions) {
        // Sent as a request, so that the engine starts to serve the new resource.
        engine.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", *object);
      } else {
        engine.seed(*object);
      }
    } catch (const Error& error) {
      const auto name = object->get_string("metadata.name").value_or("?");
      throw Error(fmt::format("{}: {}: {}", manifests.origin(i), name, error.what()));
    }
  }
  if (definitions) engine.settle();
}

std::size_t store(detail::Engine& engine, const detail::Manifests& manifests) {
  store(engine, manifests, true);
  store(engine, manifests, false);
  return manifests.size();
}

}  // namespace

std::size_t ApiServer::load_yaml(std::string_view text, const std::string& origin) {
  detail::Manifests manifests;
  manifests.add(text, origin);
  return store(impl_->engine, manifests);
}

std::size_t ApiServer::load(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{path}) {
      if (entry.is_regular_file() && is_manifest(entry.path())) files.push_back(entry.path());
    }
    std::ranges::sort(files);
  } else if (std::filesystem::exists(path)) {
    files.push_back(path);
  } else {
    throw Error(fmt::format("{}: no such file or folder", path.string()));
  }
  detail::Manifests manifests;
  for (const auto& file : files) manifests.add(read_file(file), file.string());
  return store(impl_->engine, manifests);
}

}  // namespace kube::testkit
