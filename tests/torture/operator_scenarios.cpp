// SPDX-License-Identifier: Apache-2.0
// The parts of an operator: a controller with its manager, leader election, credentials from an
// exec plugin.
#include "operator_scenarios.hpp"

#include "cluster.hpp"

#include <kube/api/coordination/v1.hpp>
#include <kube/config/credentials.hpp>
#include <kube/controller/create_or_update.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/lease_lock.hpp>
#include <kube/controller/manager.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kube::torture {

namespace {

using core::v1::Secret;
using namespace std::chrono_literals;

/// Runs a blocking function of the library on a thread that is subject to faults but always starts.
class Blocking {
 public:
  explicit Blocking(std::function<void(std::stop_token)> function) {
    const Immune immune;
    thread_ = std::jthread{[this, function = std::move(function)](std::stop_token stop) {
      try {
        const Subject subject;
        function(std::move(stop));
      } catch (...) {
        error_ = std::current_exception();
      }
      ended_ = true;
    }};
  }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Rethrows the exception of the function.
  void finish() {
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
  std::atomic<bool> ended_ = false;
  std::jthread thread_;
};

/// A controller that creates a secret for each config map.
class ControllerScenario final : public ClusterScenario {
 public:
  using ClusterScenario::ClusterScenario;

  [[nodiscard]] std::vector<FaultKind> kinds() const override {
    auto all = ClusterScenario::kinds();
    all.push_back(FaultKind::kCallback);
    return all;
  }
  void prepare() override {
    for (const Ref<Value>& object : server.list({"", "secrets"}, kSpace)) {
      server.remove({"", "secrets"}, kSpace, detail::kObjectAccess<Value>.name(object.get()));
    }
    ClusterScenario::prepare();
  }
  void run() override {
    const Subject subject;
    Config config = [&] {
      const Immune immune;
      return server.config();
    }();
    ManagerOptions options;
    options.cache.namespaces[std::string{kSpace}] = {};
    options.clock = &clock;
    Manager manager{std::move(config), std::move(options)};
    manager.index_field<ConfigMap>("text", [](const ConfigMap& map) -> std::vector<std::string> {
      callback_point();
      return {map.data.at("text").str()};
    });
    manager.controller<ConfigMap>("copy")
        .watches<Secret>([](const Secret& secret) -> std::vector<Request> {
          callback_point();
          return {Request{{secret.metadata.namespace_.str(), secret.metadata.name.str()}}};
        })
        .with_event_filter({.on_create =
                                [](const auto&...) {
                                  callback_point();
                                  return true;
                                }})
        .reconcile([&](const Request& request, const std::stop_token& stop) {
          callback_point();
          const auto map = manager.find<ConfigMap>(request.key, stop);
          if (!map) return done();
          Secret secret;
          secret.metadata.namespace_ = request.key.namespace_;
          secret.metadata.name = request.key.name;
          (void)create_or_update(
              manager.client(), secret,
              [&](Secret& now) { now.data["text"] = std::string{map->data.at("text").view()}; },
              stop);
          return done();
        });
    Blocking running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};
    {
      const Immune immune;
      put("map-0", "second");
      eventually(
          "that each config map has its secret",
          [&] {
            return running.ended() ||
                   secrets() == "map-0=second map-1=first map-2=first map-3=first map-4=first";
          },
          [&] { return secrets(); });
    }
    running.finish();
  }

 private:
  [[nodiscard]] std::string secrets() const {
    std::string all;
    for (const auto& map : server.list({"", "secrets"}, kSpace)) {
      const auto secret = decode_json<Secret>(encode_json(*map));
      all += fmt::format("{}{}={}", all.empty() ? "" : " ", secret->metadata.name.view(),
                         secret->data.at("text").view());
    }
    return all;
  }
};

/// Two candidates of a leader election, at most one of which leads at any time.
class ElectionScenario final : public ClusterScenario {
 public:
  using ClusterScenario::ClusterScenario;

  void prepare() override {
    (void)server.remove<coordination::v1::Lease>(kSpace, "torture");
    ClusterScenario::prepare();
  }
  void run() override {
    std::atomic<int> leaders = 0;
    std::atomic<bool> two = false;
    std::atomic<int> terms = 0;
    std::atomic<int> leader = -1;
    const auto candidate = [&](int number) {
      return [&, number](std::stop_token stop) {
        const Client client = make_client();
        LeaderElector elector{
            std::make_shared<LeaseLock>(
                client, LeaseLockOptions{.namespace_ = std::string{kSpace},
                                         .name = "torture",
                                         .identity = number == 0 ? "first" : "second",
                                         .clock = &clock}),
            {// Real time is 500 times shorter, and the machine may be busy.
             .lease_duration = 15min,
             .renew_deadline = 10min,
             .retry_period = 5s,
             .release_on_cancel = true,
             .on_started_leading =
                 [&](const std::stop_token& work) {
                   const Immune immune;
                   if (++leaders > 1) two = true;
                   leader = number;
                   ++terms;
                   std::mutex mutex;
                   Condition never;
                   std::unique_lock lock{mutex};
                   never.wait(lock, work, [] { return false; });
                   --leaders;
                 },
             .on_stopped_leading = [] {},
             .clock = &clock}};
        elector.run(std::move(stop));
      };
    };
    std::array<Blocking, 2> candidates{Blocking{candidate(0)}, Blocking{candidate(1)}};
    std::exception_ptr error;
    const auto finish = [&](int number) {
      try {
        candidates[static_cast<std::size_t>(number)].finish();
      } catch (const std::exception&) {
        error = std::current_exception();
      }
    };
    const auto ended = [&](int number) {
      return candidates[static_cast<std::size_t>(number)].ended();
    };
    eventually("that a candidate leads", [&] { return terms > 0 || (ended(0) && ended(1)); });
    // The other candidate takes over, unless an error has ended it.
    const int first = leader == 1 ? 1 : 0;
    finish(first);
    eventually("that the other candidate leads", [&] { return terms > 1 || ended(1 - first); });
    finish(1 - first);
    if (two) throw Violation{"two candidates led at the same time"};
    if (leaders != 0) throw Violation{"a candidate leads though its election has ended"};
    if (error) std::rethrow_exception(error);
  }
};

/// A client whose token comes from an exec plugin.
class ExecScenario final : public ClusterScenario {
 public:
  ExecScenario() {
    std::string name = std::filesystem::temp_directory_path() / "kubecxx-torture-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw Violation{"cannot create a temporary folder"};
    folder_ = name;
    const std::filesystem::path plugin = folder_ / "plugin";
    std::ofstream{plugin} << "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                             "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\""
                          << server.config().bearer_token << "\"}}'\n";
    std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  }
  ~ExecScenario() override { std::filesystem::remove_all(folder_); }

  void run() override {
    const Subject subject;
    Config config = [&] {
      const Immune immune;
      Config own = server.config();
      own.bearer_token.clear();
      own.exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                            .command = folder_ / "plugin",
                            .interactive_mode = ExecInteractiveMode::kNever};
      return own;
    }();
    CredentialsOptions options{.clock = &clock};
    options.exec.plugins = std::make_shared<ExecPlugins>();
    auto credentials = make_credentials(config, std::move(options));
    const Client client{std::move(config),
                        {.clock = &clock, .credentials = std::move(credentials)}};
    const auto map = client.resource<ConfigMap>(kSpace).get("map-0");
    const Immune immune;
    if (map->data.at("text") != "first") throw Violation{"the object has the wrong content"};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

void add_operator_scenarios(std::map<std::string, ScenarioEntry>& all) {
  all["controller"] = {"a controller with manager, index, mapping and reconcile",
                       [] { return std::make_unique<ControllerScenario>(); }};
  all["election"] = {"two candidates for one lease",
                     [] { return std::make_unique<ElectionScenario>(); }};
  all["exec"] = {"a client whose token comes from a plugin",
                 [] { return std::make_unique<ExecScenario>(); }};
}

}  // namespace kube::torture
