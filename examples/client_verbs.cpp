// SPDX-License-Identifier: Apache-2.0
// The verbs of a client, applied to one config map of the given namespace: create, read, change,
// patch, apply, delete. docs/client.md quotes it.
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/discovery.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/retry.hpp>
#include <kube/config/load.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <string>

namespace {

using kube::core::v1::ConfigMap;

void write(const kube::Client& client, const std::string& namespace_) {
  const auto maps = client.core().v1().configmaps(namespace_);
  maps.create({.metadata = {.name = "example"}, .data = {{"color", "red"}}});

  // Read, change, write; retried if another client has changed the object in between.
  kube::retry_on_conflict([&] {
    ConfigMap map = *maps.get("example");
    map.data["color"] = "green";
    return maps.update(map);
  });

  maps.patch("example", kube::PatchType::kMerge, R"({"data":{"size":"12"}})");

  // Server-side apply: contains only the fields that this program manages.
  ConfigMap wanted{.metadata = {.name = "example", .namespace_ = namespace_}};
  wanted.data["shape"] = "round";
  client.apply(wanted, {.field_manager = "client-verbs"});
}

void read(const kube::Client& client, const std::string& namespace_) {
  const auto maps = client.resource<ConfigMap>(namespace_);
  for (const auto& [key, value] : maps.get("example")->data)
    fmt::print("{}: {}\n", key.view(), value.view());

  if (maps.find("no-such-map") == nullptr) fmt::print("find() is null for what is not there\n");
  try {
    static_cast<void>(maps.get("no-such-map"));
  } catch (const kube::ApiError& error) {
    fmt::print("get() throws: {} (not found: {})\n", error.what(), kube::is_not_found(error));
  }
}

void read_untyped(const kube::Client& client, const std::string& namespace_) {
  kube::RestMapper mapper{client};
  const kube::RestMapping found = mapper.for_text("cm");  // what a user may type
  const kube::Ref<kube::Value> map = client.dynamic(found.resource, namespace_).get("example");
  fmt::print("{} has color {}\n", map->get_string("kind").value_or(""),
             map->get_string("data.color").value_or("unknown"));

  for (const auto& item : client.metadata(found.resource, namespace_).list_all().items) {
    fmt::print("{} at version {}\n", item->metadata.name.view(),
               item->metadata.resource_version.view());
  }
}

int run(const std::string& kubeconfig, const std::string& namespace_) {
  const kube::Client client{kube::load_config({.sources = {.explicit_file = kubeconfig}})};
  fmt::print("server {}\n", kube::Discovery{client}.server_version().git_version);
  write(client, namespace_);
  read(client, namespace_);
  read_untyped(client, namespace_);
  client.core().v1().configmaps(namespace_).delete_("example");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string kubeconfig;
  std::string namespace_ = "default";
  CLI::App app{"Creates, changes, reads and deletes the config map \"example\"."};
  app.add_option("--kubeconfig", kubeconfig, "this file instead of the usual places");
  app.add_option("-n,--namespace", namespace_, "where to work");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    return run(kubeconfig, namespace_);
  } catch (const std::exception& error) {
    fmt::print(stderr, "client_verbs: {}\n", error.what());
    return 1;
  }
}
