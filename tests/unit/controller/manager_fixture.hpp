// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/controller/manager.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/items.hpp"
#include "support/request_trace.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube {

using namespace std::chrono_literals;
using core::v1::ConfigMap;
using core::v1::Secret;

inline ConfigMap config_map(std::string_view space, std::string_view name,
                            const testing_support::LabelList& labels = {}) {
  ConfigMap map;
  map.metadata.namespace_ = space;
  map.metadata.name = name;
  for (const auto& [key, value] : labels) map.metadata.labels[key] = value;
  return map;
}

/// A manager that runs in a thread of its own.
class RunningManager {
 public:
  RunningManager(Config config, ManagerOptions options)
      : manager(std::move(config), std::move(options)) {}
  RunningManager(const RunningManager&) = delete;
  RunningManager& operator=(const RunningManager&) = delete;
  ~RunningManager() { stop.request_stop(); }

  void start() {
    thread_ = std::jthread{[this] {
      try {
        manager.run(stop.get_token());
      } catch (...) {
        error_ = std::current_exception();
      }
      ended.fire();
    }};
  }
  /// Waits for run(), and rethrows its exception.
  void join() {
    thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void finish() {
    stop.request_stop();
    join();
  }

  Manager manager;
  std::stop_source stop;
  const DoneSignal ended;

 private:
  std::exception_ptr error_;
  std::jthread thread_;
};

/// Records reconciled requests in order, behind a gate.
class Worked {
 public:
  void note(const std::string& what) {
    const std::lock_guard guard{mutex_};
    all_.push_back(what);
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard guard{mutex_};
    return all_;
  }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count(all(), what));
  }
  void clear() {
    const std::lock_guard guard{mutex_};
    all_.clear();
  }
  /// Returns a reconcile function that only records.
  [[nodiscard]] std::function<Result(const Request&)> noting() {
    return [this](const Request& request) {
      note(request.key.str());
      return done();
    };
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

class ManagerTest : public ::testing::Test {
 protected:
  explicit ManagerTest(testkit::ApiServerOptions options = {.garbage_collection = false})
      : server_(std::make_unique<testing_support::TestServer>(std::move(options))),
        server(*server_),
        space(server.space()) {}
  ~ManagerTest() override {
    running.reset();
    server_.reset();
    EXPECT_TRUE(testing_support::threads_return_to(threads_before_));
  }

  /// Returns the options of a manager restricted to the namespace of this test.
  [[nodiscard]] ManagerOptions options() {
    ManagerOptions result;
    result.clock = &clock;
    result.cache.namespaces = {{space, {}}};
    result.log = Logger{[this](LogLevel, std::string_view component, std::string_view text) {
      const std::lock_guard guard{mutex_};
      log_ += std::string{component} + ": " + std::string{text} + '\n';
    }};
    return result;
  }
  Manager& make(ManagerOptions from, Config config) {
    from.client = trace.following(std::move(from.client));
    running = std::make_unique<RunningManager>(std::move(config), std::move(from));
    return running->manager;
  }
  Manager& make(ManagerOptions from) { return make(std::move(from), server.config()); }
  Manager& make() { return make(options()); }

  [[nodiscard]] bool eventually(const std::function<bool()>& condition) const {
    return server.wait_for(condition);
  }
  /// Like eventually(), but advances the clock, so that nothing waits for it long. The clock stands
  /// still while a request waits for its response.
  [[nodiscard]] bool eventually_with_time(const std::function<bool()>& condition) {
    return server.wait_for([&] {
      if (condition()) return true;
      const auto next = clock.next_deadline();
      if (trace.waiting() == 0 && next < clock.now() + 90s) clock.advance(next - clock.now());
      return false;
    });
  }
  [[nodiscard]] std::string log() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  [[nodiscard]] std::uint64_t counted(const std::string& name, MetricLabels labels) const {
    return running->manager.metrics()->counter(name, "", std::move(labels)).value();
  }
  [[nodiscard]] double gauged(const std::string& name, MetricLabels labels) const {
    return running->manager.metrics()->gauge(name, "", std::move(labels)).value();
  }
  [[nodiscard]] std::size_t watches(const std::string& resource) {
    return trace.count("watch", resource);
  }
  void put(const ConfigMap& map) { server.create(map); }
  void put(std::string_view name, const testing_support::LabelList& labels = {}) {
    put(config_map(space, name, labels));
  }
  /// "namespace/name"
  [[nodiscard]] std::string key(std::string_view name) const {
    return space + '/' + std::string{name};
  }

  const std::size_t threads_before_ = testing_support::thread_count();
  testkit::FakeClock clock;

 private:
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<testing_support::TestServer> server_;

 protected:
  testing_support::RequestTrace trace;
  testing_support::TestServer& server;
  const std::string space;
  Worked worked;
  std::unique_ptr<RunningManager> running;
};

}  // namespace kube
