// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include "common/deployment.hpp"

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/base/error.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

namespace demo {
namespace {

using namespace std::chrono_literals;
using kube::apiextensions::v1::CustomResourceDefinition;
using sample::Foo;

constexpr const char* kDefinitionFile = DEMO_DEFINITION;  // set by CMakeLists.txt
constexpr std::string_view kDefinitionName = "foos.samplecontroller.k8s.io";

class SimulatedCluster final : public Cluster {
 public:
  SimulatedCluster() : server_({.simulate = true}) { server_.load(kDefinitionFile); }

  [[nodiscard]] kube::Config config() const override { return server_.config(); }
  [[nodiscard]] std::string namespace_() const override { return "default"; }
  [[nodiscard]] std::string where() const override { return "an API server in this process"; }
  [[nodiscard]] kube::testkit::ApiServer* server() override { return &server_; }
  [[nodiscard]] std::string clean_up() override {
    return fmt::format("done at revision {}", server_.revision());
  }

 private:
  kube::testkit::ApiServer server_;
};

class RealCluster final : public Cluster {
 public:
  RealCluster(const kube::Config& config, const std::stop_token& stop)
      : client_(config, {.log = kube::Logger{}}) {
    const std::string text{std::istreambuf_iterator<char>{std::ifstream{kDefinitionFile}.rdbuf()},
                           {}};
    try {
      definitions().create(*kube::decode_yaml<CustomResourceDefinition>(text), {}, stop);
      made_definition_ = true;
    } catch (const kube::ApiError& error) {
      if (!kube::is_already_exists(error)) throw;
    }
    try {
      wait_until_served(stop);
      namespace_name_ = client_.core()
                            .v1()
                            .namespaces()
                            .create({.metadata = {.generate_name = "kubecxx-demo-"}}, {}, stop)
                            ->metadata.name.str();
    } catch (...) {
      (void)clean_up();
      throw;
    }
  }

  [[nodiscard]] kube::Config config() const override { return client_.config(); }
  [[nodiscard]] std::string namespace_() const override { return namespace_name_; }
  [[nodiscard]] std::string where() const override { return client_.config().host; }
  [[nodiscard]] std::string clean_up() override {
    std::string troubles;
    const auto attempt = [&](std::string_view what, const auto& remove) {
      try {
        remove();
      } catch (const kube::ApiError& error) {
        if (!kube::is_not_found(error)) troubles += fmt::format("; {}: {}", what, error.what());
      } catch (const std::exception& error) {
        troubles += fmt::format("; {}: {}", what, error.what());
      }
    };
    if (!namespace_name_.empty()) {
      // Clusters without controllers neither collect garbage nor empty namespaces.
      attempt("Foos", [&] { client_.resource<Foo>(namespace_name_).delete_collection(); });
      attempt("Deployments",
              [&] { client_.apps().v1().deployments(namespace_name_).delete_collection(); });
      attempt("namespace " + namespace_name_,
              [&] { client_.core().v1().namespaces().delete_(namespace_name_); });
    }
    if (made_definition_) {
      attempt(kDefinitionName, [&] {
        // Another user may have created Foos meanwhile; they would be deleted with the definition.
        for (const auto& foo : client_.resource<Foo>().list_all().items) {
          if (foo->metadata.namespace_ != namespace_name_) return;
        }
        definitions().delete_(kDefinitionName);
      });
    }
    return troubles.empty() ? "done; what was created is deleted"
                            : "done, but not all is deleted" + troubles;
  }

 private:
  [[nodiscard]] kube::Resource<CustomResourceDefinition> definitions() const {
    return client_.apiextensions().v1().customresourcedefinitions();
  }
  void wait_until_served(const std::stop_token& stop) const {
    const auto deadline = kube::system_clock().now() + 20s;
    while (!kube::is_condition_true(definitions().get(kDefinitionName, {}, stop)->status.conditions,
                                    "Established")) {
      if (kube::system_clock().now() > deadline || !kube::system_clock().sleep_for(200ms, stop)) {
        throw kube::Error{fmt::format("the server does not serve {}", kDefinitionName)};
      }
    }
  }

  const kube::Client client_;
  std::string namespace_name_;
  bool made_definition_ = false;
};

}  // namespace

std::unique_ptr<Cluster> make_simulated_cluster() { return std::make_unique<SimulatedCluster>(); }

std::string announcement(const kube::Config& config) {
  return fmt::format(
      "On the cluster {} this will create\n"
      "  - the CustomResourceDefinition {}, unless it is there\n"
      "  - a namespace kubecxx-demo-..., and in it Foos, Deployments with pods of nginx:latest, "
      "events\n"
      "and delete all of it at the end.\n",
      config.host, kDefinitionName);
}

std::unique_ptr<Cluster> make_real_cluster(const kube::Config& config,
                                           const std::stop_token& stop) {
  return std::make_unique<RealCluster>(config, stop);
}

}  // namespace demo
