// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/cache/event_handler.hpp>
#include <kube/client/client.hpp>
#include <kube/informers/shared_informer_factory.hpp>
#include <kube/testkit/api_server.hpp>

#include "fast_clock.hpp"
#include "scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kube::torture {

using core::v1::ConfigMap;

[[nodiscard]] ConfigMap config_map(std::string_view name, std::string_view text);

/// Records the objects (name and version) that exist according to a handler's notifications. It
/// never fails itself.
class HandlerState {
 public:
  [[nodiscard]] EventHandler<ConfigMap> handler();
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;  // guarded by mutex_
};

/// A scenario with a client and an API server that never fails itself.
class ClusterScenario : public Scenario {
 public:
  explicit ClusterScenario(testkit::ApiServerOptions options = {});

  [[nodiscard]] std::vector<FaultKind> kinds() const override {
    return {FaultKind::kAllocation, FaultKind::kSend, FaultKind::kReceive, FaultKind::kPoll,
            FaultKind::kConnect,    FaultKind::kOpen, FaultKind::kThread};
  }
  /// Creates some config maps, and drops the history.
  void prepare() override;

 protected:
  static constexpr std::string_view kSpace = "default";

  [[nodiscard]] Client make_client();
  [[nodiscard]] FactoryOptions factory_options();
  void put(std::string_view name, std::string_view text);
  void remove(std::string_view name);

  /// Returns the objects on the server: "a@1 b@2".
  [[nodiscard]] std::string truth() const;
  [[nodiscard]] static std::string shown(const IndexerView<ConfigMap>& cache);
  /// Waits until the cache and the state of each handler match the server.
  void check(const SharedIndexInformer<ConfigMap>& informer,
             std::initializer_list<const HandlerState*> states);

  FastClock clock;
  testkit::ApiServer server;

 private:
  mutable std::mutex mutex_;
  std::string history_;  // guarded by mutex_; last log lines of the reflector
};

}  // namespace kube::torture
