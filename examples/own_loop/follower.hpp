// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/kube.hpp>

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>

/// Shared by the programs of this folder: follows the config maps of a cluster, and writes one. All
/// work is done by the thread that calls run_ready().
class Follower {
 public:
  using ConfigMap = kube::core::v1::ConfigMap;

  explicit Follower(const std::shared_ptr<kube::Runtime>& runtime)
      : client_(kube::load_config(), {.runtime = runtime}), factory_(client_) {
    const auto maps = factory_.core().v1().configmaps();
    maps.informer().add_event_handler({
        .on_add = [](const ConfigMap& map) { show("added", map); },
        .on_update = [](const ConfigMap&, const ConfigMap& map) { show("changed", map); },
        .on_delete = [](const ConfigMap& map) { show("deleted", map); },
    });
    // wait_for_cache_sync() would block; this callback does not.
    maps.informer().synced().on_done([lister = maps.lister()] {
      std::cout << "synced with " << lister.list().size() << " config maps" << std::endl;
    });
    factory_.start();
    // client_.resource<ConfigMap>("default").apply() would wait; a coroutine does not.
    kube::spawn(*runtime, write(client_.resource<ConfigMap>("default")));
  }

 private:
  static kube::Task<void> write(kube::Resource<ConfigMap> maps) {
    const ConfigMap map{.metadata = {.name = "own-loop"},
                        .data = {{"writer", std::to_string(::getpid())}}};
    const kube::ApplyOptions options{.field_manager = "own-loop", .force = true};
    const kube::Ref<ConfigMap> written = co_await maps.apply_async(map, options);
    std::cout << "wrote " << written->metadata.namespace_ << '/' << written->metadata.name
              << std::endl;
  }
  static void show(const char* what, const ConfigMap& map) {
    std::cout << what << ' ' << map.metadata.namespace_ << '/' << map.metadata.name << std::endl;
  }

  kube::Client client_;
  kube::SharedInformerFactory factory_;
};
