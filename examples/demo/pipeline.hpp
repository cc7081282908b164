// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "classic/controller.hpp"
#include "journal.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/base/metrics.hpp>
#include <kube/client/client.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

using kube::apps::v1::Deployment;
using kube::core::v1::Pod;
using sample::Foo;

/// A snapshot of one informer.
struct InformerStatus {
  std::string resource;
  std::string state{};  ///< of its reflector
  bool healthy = false;
  std::string version{};
  std::size_t lists = 0;
  std::size_t watches = 0;
  std::size_t objects = 0;
  std::size_t bytes = 0;  ///< of the cache
  std::size_t backlog = 0;
};

struct ControllerStatus {
  std::size_t queued = 0;
  std::uint64_t added = 0;
  std::uint64_t retried = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
};

/// A Foo with the state of its Deployment and pods.
struct FooRow {
  std::string name;
  std::optional<std::int32_t> wanted;
  std::optional<std::int32_t> available;
  bool has_deployment = false;
  bool owned = false;
  std::int32_t replicas = 0;
  std::int32_t ready = 0;
  std::string pods{};  ///< one character each: # ready, o not ready, x terminating
};

/// The sample controller with its informers, and one more for pods. Writes their events to the
/// journal.
///
/// Thread safety: run() once; the other methods, from any thread.
class Pipeline {
 public:
  Pipeline(const kube::Config& config, std::string space, Journal& journal);

  /// Runs until a stop is requested.
  void run(const std::stop_token& stop);

  [[nodiscard]] std::vector<InformerStatus> informers() const;
  [[nodiscard]] ControllerStatus controller();
  [[nodiscard]] std::vector<FooRow> foos() const;
  /// Returns whether all informers have an open watch.
  [[nodiscard]] bool watching() const;

  static constexpr int kWorkers = 2;

 private:
  struct Reflector {
    std::string state = "not started";
    bool healthy = false;
    std::size_t lists = 0;
    std::size_t watches = 0;
  };

  [[nodiscard]] kube::FactoryOptions factory_options(std::string name);
  void on_state(std::string_view informer, const kube::ReflectorEvent& event);
  template <typename T>
  void follow();
  template <typename T>
  [[nodiscard]] InformerStatus status_of() const;

  const std::string namespace_;
  Journal& journal_;
  const std::shared_ptr<kube::Metrics> metrics_ = std::make_shared<kube::Metrics>();
  mutable std::mutex mutex_;
  std::map<std::string, Reflector, std::less<>> reflectors_;  // by kind; guarded by mutex_
  const kube::Client client_;
  kube::SharedInformerFactory kube_factory_;
  kube::SharedInformerFactory sample_factory_;
  sample::Controller controller_;
};

}  // namespace demo
