// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/cache/reflector.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/transport/error.hpp>

#include "support/fake_list_watch.hpp"
#include "support/items.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube::testing_support {

inline Failure lost(TransportError::Kind kind) {
  return [kind] { throw TransportError{kind, "gone"}; };
}

/// Runs a reflector in a thread of its own, and records everything that it reports.
class ReflectorTest : public ::testing::Test {
 protected:
  using What = ReflectorEvent::Kind;
  using Strings = std::vector<std::string>;

  ReflectorTest() {
    options.clock = &clock;
    options.log = Logger{};
    options.random = [] { return 0.5; };
    options.backoff.random = [] { return 0.0; };
    options.reconnect_floor = {};
    options.on_error = [this](const ReflectorError& error) {
      const std::lock_guard guard{mutex};
      errors.emplace_back(error.what());
      changed.notify_all();
    };
    options.on_state = [this](const ReflectorEvent& event) {
      const std::lock_guard guard{mutex};
      events.push_back(event);
      changed.notify_all();
    };
  }
  ~ReflectorTest() override { stop(); }

  void start() {
    reflector = std::make_unique<Reflector<Item>>(server, store, options);
    thread = std::jthread{[this](std::stop_token token) { reflector->run(std::move(token)); }};
  }
  void stop() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
  }
  std::size_t count(What kind) {
    const std::lock_guard guard{mutex};
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const auto& e) { return e.kind == kind; }));
  }
  bool wait_for(What kind, std::size_t times = 1) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{10}, [&] {
      return static_cast<std::size_t>(std::count_if(
                 events.begin(), events.end(), [&](const auto& e) { return e.kind == kind; })) >=
             times;
    });
  }
  ReflectorEvent last(What kind) {
    const std::lock_guard guard{mutex};
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (event->kind == kind) return *event;
    }
    return {};
  }
  /// Ends a wait of the reflector.
  void pass(Clock::Duration time) {
    ASSERT_TRUE(clock.wait_for_sleeper_until(clock.now() + time));
    clock.advance(time);
  }
  std::string error(std::size_t number) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{10}, [&] { return errors.size() > number; }) ? errors[number]
                                                                               : "no error";
  }
  Strings seen_errors() {
    const std::lock_guard guard{mutex};
    return errors;
  }
  /// Waits until the store has this content.
  ::testing::AssertionResult shows(const std::string& expected) {
    (void)server->wait_until_read();
    std::string found = show(store.list());
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (found != expected && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
      found = show(store.list());
    }
    if (found == expected) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "found " << found;
  }

  testkit::FakeClock clock;
  std::shared_ptr<FakeListWatch> server = std::make_shared<FakeListWatch>();
  Indexer<Item> store;
  ReflectorOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  Strings errors;
  std::vector<ReflectorEvent> events;
  std::unique_ptr<Reflector<Item>> reflector;
  std::jthread thread;
};

}  // namespace kube::testing_support
