// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::torture {

namespace {

constexpr int kObjects = 5;

std::string joined(const std::map<std::string, std::string>& objects) {
  std::string all;
  for (const auto& [name, version] : objects) {
    all += fmt::format("{}{}@{}", all.empty() ? "" : " ", name, version);
  }
  return all;
}

testkit::ApiServerOptions bare(testkit::ApiServerOptions options) {
  // Background work would make the number of calls differ from run to run.
  options.garbage_collection = false;
  options.namespace_controller = false;
  options.request_log = 0;
  options.threads = 1;
  options.seed = 1;
  return options;
}

}  // namespace

ConfigMap config_map(std::string_view name, std::string_view text) {
  ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = name;
  map.metadata.labels["app"] = "torture";
  map.data["text"] = text;
  return map;
}

EventHandler<ConfigMap> HandlerState::handler() {
  const auto note = [this](const Ref<ConfigMap>& now) {
    const Immune immune;
    const std::lock_guard guard{mutex_};
    objects_[now->metadata.name.str()] = now->metadata.resource_version.str();
  };
  return {.on_add = [note](const Ref<ConfigMap>& now) { note(now); },
          .on_update = [note](const Ref<ConfigMap>&, const Ref<ConfigMap>& now) { note(now); },
          .on_delete =
              [this](const Deleted<ConfigMap>& gone) {
                const Immune immune;
                const std::lock_guard guard{mutex_};
                objects_.erase(gone.key.name);
              }};
}

std::string HandlerState::text() const {
  const std::lock_guard guard{mutex_};
  return joined(objects_);
}

ClusterScenario::ClusterScenario(testkit::ApiServerOptions options)
    : server(bare(std::move(options))) {}

void ClusterScenario::prepare() {
  for (const Ref<Value>& object : server.list({"", "configmaps"}, kSpace)) {
    server.remove({"", "configmaps"}, kSpace, detail::kObjectAccess<Value>.name(object.get()));
  }
  for (int i = 0; i < kObjects; ++i) put(fmt::format("map-{}", i), "first");
  server.compact();
  const std::lock_guard guard{mutex_};
  history_.clear();
}

Client ClusterScenario::make_client() {
  Config config = [&] {
    const Immune immune;
    return server.config();
  }();
  return Client{std::move(config), {.clock = &clock}};
}

FactoryOptions ClusterScenario::factory_options() {
  FactoryOptions options;
  options.namespace_ = kSpace;
  options.clock = &clock;
  options.on_state = [this](std::string_view, const ReflectorEvent& event) {
    const Immune immune;
    const std::lock_guard guard{mutex_};
    history_ += fmt::format("\n  {} {}", to_string(event.kind), event.message);
    if (history_.size() > 4000) history_.erase(0, 2000);
  };
  return options;
}

void ClusterScenario::put(std::string_view name, std::string_view text) {
  const Immune immune;
  (void)server.create(config_map(name, text));
}

void ClusterScenario::remove(std::string_view name) {
  const Immune immune;
  (void)server.remove<ConfigMap>(kSpace, name);
}

std::string ClusterScenario::truth() const {
  std::map<std::string, std::string> objects;
  for (const Ref<Value>& object : server.list({"", "configmaps"}, kSpace)) {
    const auto& access = detail::kObjectAccess<Value>;
    objects[std::string{access.name(object.get())}] = access.resource_version(object.get());
  }
  return joined(objects);
}

std::string ClusterScenario::shown(const IndexerView<ConfigMap>& cache) {
  std::map<std::string, std::string> objects;
  cache.snapshot().for_each([&](const ConfigMap& map) {
    objects[map.metadata.name.str()] = map.metadata.resource_version.str();
  });
  return joined(objects);
}

void ClusterScenario::check(const SharedIndexInformer<ConfigMap>& informer,
                            std::initializer_list<const HandlerState*> states) {
  const Immune immune;
  const std::string expected = truth();
  eventually(
      "that the cache equals the server",
      [&] {
        return informer.has_synced() && shown(informer.indexer()) == expected &&
               std::ranges::all_of(states,
                                   [&](const auto* one) { return one->text() == expected; });
      },
      [&] {
        std::string text =
            fmt::format("\n  server  {}\n  cache   {}\n  synced  {}\n  error   {}", expected,
                        shown(informer.indexer()), informer.has_synced(), informer.last_error());
        for (const HandlerState* one : states) text += "\n  handler " + one->text();
        const std::lock_guard guard{mutex_};
        return text + history_;
      });
}

}  // namespace kube::torture
