// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/shared_informer.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/fake_list_watch.hpp"
#include "support/items.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace kube::testing_support {

using namespace std::chrono_literals;

/// An informer of a fake server, with a clock that the test advances.
class SharedInformerTest : public ::testing::Test {
 protected:
  SharedInformerTest() {
    options.clock = &clock;
    options.log = Logger{};
    options.random = [] { return 0.0; };
    options.backoff.random = [] { return 0.0; };
    options.reconnect_floor = {};
  }
  ~SharedInformerTest() override {
    stop();
    EXPECT_TRUE(threads_return_to(threads_before));  // K-36
  }

  SharedIndexInformer<Item>& make() {
    informer = std::make_unique<SharedIndexInformer<Item>>(server, options);
    return *informer;
  }
  void start() {
    if (!informer) make();
    thread = std::jthread{[this](std::stop_token token) { informer->run(std::move(token)); }};
  }
  void start_and_sync() {
    start();
    ASSERT_TRUE(wait(informer->synced()));
    ASSERT_TRUE(server->wait_for_watches(1));
  }
  void stop() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
  }
  static bool wait(const DoneSignal& signal) {
    auto done = std::async(std::launch::async, [&] {
      std::stop_source limit;
      std::jthread timer{[&](std::stop_token token) {
        if (system_clock().sleep_for(10s, std::move(token))) limit.request_stop();
      }};
      return signal.wait(limit.get_token());
    });
    return done.get();
  }
  /// Waits until the cache equals the server.
  void settle() {
    ASSERT_TRUE(
        eventually([this] { return informer->indexer().wait_for_version(server->version(), 0s); }));
  }
  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void pass(Clock::Duration time) {
    ASSERT_TRUE(clock.wait_for_sleepers(1));
    clock.advance(time);
  }
  /// Makes the reflector list again.
  void relist(std::size_t requests = 2) {
    const std::size_t asked = server->requests().size();
    server->end_watches(status(410, "Expired"));
    while (server->requests().size() == asked) {
      clock.advance(1min);
      std::this_thread::yield();
    }
    ASSERT_TRUE(server->wait_for_requests(asked + requests));
    ASSERT_TRUE(server->wait_for_watches(1));
  }

  std::size_t threads_before = thread_count();
  testkit::FakeClock clock;
  std::shared_ptr<FakeListWatch> server = std::make_shared<FakeListWatch>();
  InformerOptions<Item> options;
  std::unique_ptr<SharedIndexInformer<Item>> informer;
  std::jthread thread;
};

}  // namespace kube::testing_support
