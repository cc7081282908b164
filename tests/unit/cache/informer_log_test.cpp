// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/base/condition.hpp>
#include <kube/cache/informer.hpp>
#include <kube/cache/reflector.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/transport/transport.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

using core::v1::Pod;
using testing::HasSubstr;
using testing::IsEmpty;

class Unreachable final : public Transport {
 public:
  std::unique_ptr<ResponseStream> open(HttpRequest /*request*/, std::stop_token /*stop*/) override {
    throw TransportError{TransportError::Kind::kConnect, "out of reach"};
  }
};

/// Collects the lines of one log.
class Lines {
 public:
  [[nodiscard]] Logger logger() {
    return Logger{[this](LogLevel, std::string_view, std::string_view message) {
      {
        const std::lock_guard guard{mutex_};
        lines_.emplace_back(message);
      }
      added_.notify_all();
    }};
  }
  /// Returns the first line; empty if there is none after ten seconds.
  [[nodiscard]] std::string first() {
    std::unique_lock lock{mutex_};
    added_.wait_for(lock, 10s, [this] { return !lines_.empty(); });
    return lines_.empty() ? "" : lines_.front();
  }
  [[nodiscard]] std::vector<std::string> all() {
    const std::lock_guard guard{mutex_};
    return lines_;
  }

 private:
  std::mutex mutex_;
  Condition added_;
  std::vector<std::string> lines_;  // guarded by mutex_
};

/// A client that reaches no server, so that everything that lists through it logs an error.
class InformerLog : public testing::Test {
 protected:
  testkit::FakeClock clock_;
  Lines of_client_;
  Lines own_;
  Client client_{
      Config{.host = "http://127.0.0.1:1"},
      {.log = of_client_.logger(), .max_retries = 0, .transport = std::make_shared<Unreachable>()}};
  std::shared_ptr<ListWatch<Pod>> source_ =
      std::make_shared<ResourceListWatch<Pod>>(client_.resource<Pod>());
};

// M-10
TEST_F(InformerLog, DefaultsToTheLogOfTheClient) {
  SharedIndexInformer<Pod> informer{source_, {.clock = &clock_}};
  const std::jthread running{[&](std::stop_token stop) { informer.run(std::move(stop)); }};

  EXPECT_THAT(of_client_.first(), HasSubstr("out of reach"));
}

TEST_F(InformerLog, DefaultsToTheLogOfTheClientForASimpleInformer) {
  Informer<Pod> informer{source_, {}, {.clock = &clock_}};
  const std::jthread running{[&](std::stop_token stop) { informer.run(std::move(stop)); }};

  EXPECT_THAT(of_client_.first(), HasSubstr("out of reach"));
}

TEST_F(InformerLog, DefaultsToTheLogOfTheClientForAReflector) {
  Indexer<Pod> store;
  Reflector<Pod> reflector{source_, store, {.clock = &clock_}};
  const std::jthread running{[&](std::stop_token stop) { reflector.run(std::move(stop)); }};

  EXPECT_THAT(of_client_.first(), HasSubstr("out of reach"));
}

TEST_F(InformerLog, UsesTheLogOfTheOptionsIfSet) {
  {
    SharedIndexInformer<Pod> informer{source_, {.clock = &clock_, .log = own_.logger()}};
    const std::jthread running{[&](std::stop_token stop) { informer.run(std::move(stop)); }};

    EXPECT_THAT(own_.first(), HasSubstr("out of reach"));
  }

  EXPECT_THAT(of_client_.all(), IsEmpty());
}

}  // namespace
}  // namespace kube
