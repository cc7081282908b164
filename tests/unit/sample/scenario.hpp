// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/owner_references.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/client/retry.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "common/deployment.hpp"
#include "common/program.hpp"
#include "support/paths.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Shared by the tests of the sample controller: a server with Foos, a clock that advances only
/// while a test waits, and controllers in threads of their own.
namespace sample {

using namespace std::chrono_literals;

/// Collects the lines of a log.
/// Thread safety: all methods, from any thread.
class Lines {
 public:
  kube::Logger logger() {
    return kube::Logger{[this](kube::LogLevel, std::string_view, std::string_view message) {
      const std::lock_guard guard{mutex_};
      lines_.emplace_back(message);
    }};
  }
  [[nodiscard]] std::size_t count(std::string_view part) const {
    const std::lock_guard guard{mutex_};
    return static_cast<std::size_t>(std::count_if(
        lines_.begin(), lines_.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
};

/// A running controller. The destructor stops it and waits for its end.
class Running {
 public:
  Running(const RunController& run, kube::Config config, RunOptions options,
          kube::testkit::FakeClock& clock)
      : clock_(clock),
        ended_(std::async(std::launch::async, [=, stop = stop_.get_token()]() -> std::string {
          try {
            run(config, options, stop);
            return "";
          } catch (const std::exception& error) {
            return error.what();
          }
        })) {}
  ~Running() {
    if (ended_.valid()) (void)stop();
  }

  [[nodiscard]] bool ended() const { return ended_.wait_for(0s) == std::future_status::ready; }
  /// Stops it, and returns why it failed; empty if it did not. The clock advances until it has
  /// ended.
  std::string stop() {
    stop_.request_stop();
    while (ended_.wait_for(2ms) != std::future_status::ready) clock_.advance(20ms);
    return ended_.get();
  }

 private:
  kube::testkit::FakeClock& clock_;
  std::stop_source stop_;
  std::future<std::string> ended_;
};

class Scenario : public testing::Test {
 protected:
  /// Neither server has a garbage collector; collect_garbage() replaces it.
  Scenario() {
    std::ifstream file{kube::testing_support::source_path("examples/sample_controller/crd.yaml")};
    server.load_yaml(std::string{std::istreambuf_iterator<char>{file}, {}});
  }

  /// Waits until the condition holds. Before each check the clock of the controllers advances by
  /// `step`.
  bool eventually(const std::function<bool()>& condition, kube::Clock::Duration step = 20ms) {
    return server.wait_for(
        [&] {
          if (condition()) return true;
          clock.advance(step);
          return false;
        },
        20s);
  }
  std::unique_ptr<Running> start(const RunController& run, RunOptions how) {
    return std::make_unique<Running>(run, server.config(), std::move(how), clock);
  }
  [[nodiscard]] RunOptions options() {
    return {.lease_namespace = space, .log = lines.logger(), .metrics = metrics, .clock = &clock};
  }

  kube::Ref<Foo> create_foo(std::string_view name, std::string_view deployment,
                            std::optional<std::int32_t> replicas) const {
    return foos().create({.metadata = {.name = name, .namespace_ = space},
                          .spec = {.deployment_name = deployment, .replicas = replicas}});
  }
  void scale_foo(std::string_view name, std::int32_t replicas) const {
    kube::retry_on_conflict([&] {
      Foo foo = *foos().get(name);
      foo.spec.replicas = replicas;
      return foos().update(foo);
    });
  }
  /// Changes a Deployment as another user might.
  void change_deployment(std::string_view name,
                         const std::function<void(Deployment&)>& change) const {
    kube::retry_on_conflict([&] {
      Deployment deployment = *deployments().get(name);
      change(deployment);
      return deployments().update(deployment);
    });
  }
  void set_available(std::string_view name, std::int32_t available) const {
    kube::retry_on_conflict([&] {
      Deployment deployment = *deployments().get(name);
      deployment.status.replicas = available;
      deployment.status.ready_replicas = available;
      deployment.status.available_replicas = available;
      return deployments().update_status(deployment);
    });
  }

  [[nodiscard]] kube::Ref<Deployment> deployment(std::string_view name) const {
    return server.find<Deployment>(space, name);
  }
  [[nodiscard]] bool has_replicas(std::string_view name, std::int32_t replicas) const {
    const auto found = deployment(name);
    return found && found->spec.replicas == replicas;
  }
  [[nodiscard]] bool shows_available(std::string_view foo, std::int32_t available) const {
    const auto found = server.find<Foo>(space, foo);
    return found && found->status.available_replicas == available;
  }
  /// Returns how often an event was recorded about a Foo.
  [[nodiscard]] int events(std::string_view foo, std::string_view type,
                           std::string_view reason) const {
    int count = 0;
    for (const auto& value : server.list({"", "v1", "events"}, space)) {
      const auto event = kube::decode_json<kube::core::v1::Event>(kube::encode_json(*value));
      if (event->involved_object.kind == "Foo" && event->involved_object.name == foo &&
          event->type == type && event->reason == reason) {
        count += event->count;
      }
    }
    return count;
  }
  /// Deletes Deployments whose Foo does not exist any more.
  void collect_garbage() {
    for (const auto& one : deployments().list().items) {
      const auto* owner = kube::controller_of(one->metadata);
      if (owner == nullptr || owner->kind != "Foo") continue;
      const auto foo = foos().find(owner->name);
      if (!foo || foo->metadata.uid != owner->uid) {
        server.remove<Deployment>(space, one->metadata.name.view());
      }
    }
  }

  [[nodiscard]] kube::Resource<Foo> foos() const { return client.resource<Foo>(space); }
  [[nodiscard]] kube::Resource<Deployment> deployments() const {
    return client.apps().v1().deployments(space);
  }

  kube::testing_support::TestServer server{{.seed = 1, .garbage_collection = false}};
  const std::string space = server.space();
  kube::testkit::FakeClock clock;
  Lines lines;
  std::shared_ptr<kube::Metrics> metrics = std::make_shared<kube::Metrics>();
  const kube::Client client{server.config()};
};

}  // namespace sample
