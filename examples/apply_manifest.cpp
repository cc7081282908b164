// SPDX-License-Identifier: Apache-2.0
// Applies, compares and deletes the objects of YAML files, and waits for them.
// docs/guides/apply-manifests.md quotes it.
//   apply_manifest apply FILE...     in the cluster of the kubeconfig
//   apply_manifest diff FILE...      exit code 1 if there are differences
//   apply_manifest delete FILE...
//   apply_manifest demo FILE         all of it, with an in-process server
#include <kube/api/apps/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/wait.hpp>
#include <kube/config/load.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using kube::apps::v1::Deployment;

const kube::ManifestOptions kOptions{
    .field_manager = "apply-manifest",
    .prune = kube::PruneOptions{.label_selector = "app.kubernetes.io/part-of=shop",
                                .kinds = {{"", "ConfigMap"}, {"apps", "Deployment"}}}};

kube::Manifest read(const std::vector<std::string>& files) {
  kube::Manifest all;
  for (const std::string& file : files) {
    std::ifstream stream{file};
    if (!stream) throw std::runtime_error{file + ": cannot be read"};
    const std::string text{std::istreambuf_iterator<char>{stream}, {}};
    const kube::Manifest manifest = kube::parse_manifest(text, file);
    all.insert(all.end(), manifest.begin(), manifest.end());
  }
  return all;
}

void show(const std::vector<kube::ManifestResult>& results) {
  for (const kube::ManifestResult& result : results) fmt::print("{}\n", to_string(result));
}

/// Applies everything, then waits until it is ready.
void install(const kube::Client& client, const kube::Manifest& manifest) {
  show(kube::apply_manifest(client, manifest, kOptions));
  kube::wait_for_manifest(client, manifest, {.timeout = 2min});
  fmt::print("{} objects are ready\n", manifest.size());
}

/// Shows what install() would change. Returns whether that is anything.
bool compare(const kube::Client& client, const kube::Manifest& manifest) {
  bool differs = false;
  for (const kube::ObjectDiff& diff : kube::diff_manifest(client, manifest, kOptions)) {
    if (diff.action == kube::ManifestAction::kUnchanged) continue;
    fmt::print("{}", to_string(diff));
    differs = true;
  }
  return differs;
}

void uninstall(const kube::Client& client, const kube::Manifest& manifest) {
  show(kube::delete_manifest(client, manifest, {.wait = 1min}));
}

/// Waits for one object instead of all.
void wait_for_web(const kube::Client& client) {
  const auto deployments = client.apps().v1().deployments("shop");
  kube::wait_for_condition(deployments, "web", "Available", 2min);

  const auto scaled = [](const Deployment& web) { return web.status.ready_replicas == 2; };
  const kube::Ref<Deployment> web = kube::wait_until(deployments, "web", scaled, 2min);
  fmt::print("web has {} ready replicas\n", web->status.ready_replicas);

  try {
    kube::wait_for_condition(deployments, "no-such-deployment", "Available", 100ms);
  } catch (const kube::WaitTimeoutError& error) {
    fmt::print("{}\n", error.what());
  }
}

/// Returns the manifest without the objects of a kind.
kube::Manifest without(const kube::Manifest& manifest, std::string_view kind) {
  kube::Manifest rest = manifest;
  std::erase_if(rest, [&](const kube::ManifestObject& one) { return one.kind.kind == kind; });
  return rest;
}

void demo(const kube::Manifest& manifest) {
  kube::testkit::ApiServer server{{.simulate = true}};
  const kube::Client client{server.config()};
  install(client, manifest);
  wait_for_web(client);
  fmt::print("differs: {}\n", compare(client, manifest));
  install(client, without(manifest, "ConfigMap"));
  fmt::print("differs: {}\n", compare(client, manifest));
  uninstall(client, manifest);
}

int run(std::string_view command, const kube::Manifest& manifest) {
  if (command == "demo") {
    demo(manifest);
    return 0;
  }
  const kube::Client client{kube::load_config()};
  if (command == "diff") return compare(client, manifest) ? 1 : 0;
  if (command == "delete") {
    uninstall(client, manifest);
  } else if (command == "apply") {
    install(client, manifest);
  } else {
    throw std::invalid_argument{"usage: apply_manifest apply|diff|delete|demo FILE..."};
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2) return run("", {});
    return run(arguments.front(), read({arguments.begin() + 1, arguments.end()}));
  } catch (const std::exception& error) {
    fmt::print(stderr, "apply_manifest: {}\n", error.what());
    return 2;
  }
}
