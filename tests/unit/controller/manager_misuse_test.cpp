// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/controller/manager.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

using core::v1::ConfigMap;

/// No server is needed: no object is read here.
Config nowhere() { return {.host = "http://127.0.0.1:1"}; }

Result do_nothing(const Request& /*request*/) { return done(); }

std::vector<Request> itself(const ConfigMap& map) { return {Request{key_of(map)}}; }

/// A manager that runs `function` once, and the message with which run() ends: empty if it throws
/// nothing.
class ManagerMisuse : public testing::Test {
 protected:
  std::string run_with(std::function<void(std::stop_token stop)> function) {
    manager_->add(std::move(function), {.needs_leader_election = false});
    std::stop_source stop;
    auto running = std::async(std::launch::async, [&]() -> std::string {
      try {
        manager_->run(stop.get_token());
        return "";
      } catch (const std::logic_error& error) {
        return error.what();
      }
    });
    if (running.wait_for(10s) != std::future_status::ready) {
      ADD_FAILURE() << "the manager goes on";
      stop.request_stop();
    }
    return running.get();
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_ until run() has ended
  std::optional<Manager> manager_{
      std::in_place, nowhere(),
      ManagerOptions{.log = Logger{[this](LogLevel, std::string_view, std::string_view message) {
                                     const std::lock_guard guard{mutex_};
                                     lines_.emplace_back(message);
                                   },
                                   LogLevel::kError}}};
};

// CF-47: as before the start, a controller without a function is reported.
TEST_F(ManagerMisuse, BuilderDroppedWithoutAFunctionEndsTheManagerThatRuns) {
  const std::string problem =
      run_with([&](const std::stop_token&) { static_cast<void>(manager_->controller("late")); });

  EXPECT_EQ(problem,
            "controller late has no reconcile function; end what begins with "
            "Manager::controller() with .reconcile(function)");
  EXPECT_THAT(lines_, testing::Contains(problem));
}

TEST_F(ManagerMisuse, BuilderThatWasRefusedDoesNotEndTheManager) {
  std::string refusal;
  bool went_on = false;

  const std::string problem = run_with([&](const std::stop_token&) {
    {
      auto builder = manager_->controller("idle");  // it has no source
      try {
        builder.reconcile(do_nothing);
      } catch (const std::logic_error& error) {
        refusal = error.what();
      }
    }
    went_on = true;
    throw std::logic_error("enough");
  });

  EXPECT_FALSE(refusal.empty());
  EXPECT_TRUE(went_on);
  EXPECT_EQ(problem, "enough");
}

TEST_F(ManagerMisuse, BuilderThatOutlivesItsManagerSaysSo) {
  EventChannel<ConfigMap> channel;
  auto builder = manager_->controller("orphan");
  builder.watches(channel, itself);
  manager_.reset();

  try {
    builder.reconcile(do_nothing);
    ADD_FAILURE() << "there is no manager to run it";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(),
                 "controller orphan: its manager was destroyed before reconcile() was called");
  }
}

// CF-48
TEST(ManagerDeathTest, NamesTheRemedyWhenAReconcileDestroysIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto manager = std::make_unique<Manager>(nowhere());
        EventChannel<ConfigMap> channel;
        manager->controller("careless").watches(channel, itself).reconcile([&](const Request&) {
          manager.reset();
          return done();
        });
        static_cast<void>(channel.send(ConfigMap{.metadata = {.name = "any"}}));
        manager->run({});
      },
      "destroyed by one of its own controllers or runnables.*request a stop of the token given to "
      "run\\(\\) instead");
}

TEST(ManagerDeathTest, NamesTheRemedyWhenARunnableDestroysItThoughTheLogIsSilent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto manager = std::make_unique<Manager>(nowhere(), ManagerOptions{.log = Logger{}});
        manager->add([&](const std::stop_token&) { manager.reset(); });
        manager->run({});
      },
      "destroyed by one of its own controllers or runnables");
}

}  // namespace
}  // namespace kube
