// SPDX-License-Identifier: Apache-2.0
// The fake source for tests of users, and an informer that follows it.
#include <kube/api/core/v1.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/testkit/fake_source.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace kube {
namespace {

using core::v1::ConfigMap;

ConfigMap config_map(const char* name, const char* colour = "red") {
  ConfigMap map{.metadata = {.name = name, .namespace_ = "shop"}};
  map.data["colour"] = colour;
  return map;
}

class FakeSourceTest : public ::testing::Test {
 protected:
  InformerOptions<ConfigMap> options() {
    InformerOptions<ConfigMap> options;
    options.clock = &clock;
    options.log = Logger{};
    return options;
  }
  void start() {
    thread = std::jthread{[this](std::stop_token stop) { informer.run(std::move(stop)); }};
    ASSERT_TRUE(source->wait_for_watches(1));
  }
  /// Waits until the cache has that object; advances the clock past back-off pauses.
  bool shows(const std::string& name, const std::string& colour) {
    return clock.advance_until([&] {
      const auto found = informer.indexer().find("shop/" + name);
      return (found == nullptr ? "" : found->data.at("colour").str()) == colour;
    });
  }

  testkit::FakeClock clock;
  const std::shared_ptr<testkit::FakeSource<ConfigMap>> source =
      std::make_shared<testkit::FakeSource<ConfigMap>>();
  SharedIndexInformer<ConfigMap> informer{source, options()};
  std::jthread thread;
};

// L-15
TEST_F(FakeSourceTest, ReportsAllChangesToAnInformer) {
  source->add(config_map("old"));
  start();
  EXPECT_TRUE(shows("old", "red"));
  EXPECT_EQ(source->add(config_map("new"))->metadata.resource_version, "3");
  EXPECT_TRUE(shows("new", "red"));
  source->update(config_map("new", "blue"));
  EXPECT_TRUE(shows("new", "blue"));
  EXPECT_TRUE(source->erase({"shop", "new"}));
  EXPECT_TRUE(shows("new", ""));
  EXPECT_FALSE(source->erase({"shop", "new"}));
  EXPECT_THROW(source->add(config_map("old")), std::invalid_argument);
  EXPECT_THROW(source->update(config_map("new")), std::invalid_argument);
}

// L-15
TEST_F(FakeSourceTest, ShowsSilentChangesToListsAlone) {
  source->add(config_map("a"));
  source->add(config_map("b"));
  start();
  source->add(config_map("seen"));  // a watch that ends without an event is followed by a list
  ASSERT_TRUE(shows("seen", "red"));
  source->update_silently(config_map("a", "blue"));
  source->erase_silently({"shop", "b"});
  source->add_silently(config_map("c"));
  source->break_watches();
  source->add(config_map("told"));
  ASSERT_TRUE(shows("told", "red"));
  EXPECT_TRUE(shows("a", "red"));  // a watch that resumes misses them
  EXPECT_TRUE(shows("c", ""));
  source->expire_watches();
  EXPECT_TRUE(shows("a", "blue"));
  EXPECT_TRUE(shows("b", ""));
  EXPECT_TRUE(shows("c", "red"));
}

// L-15
TEST_F(FakeSourceTest, AnswersAsAServerInTrouble) {
  source->fail_lists(2, ApiError{403, "not allowed"});
  source->add(config_map("a"));
  thread = std::jthread{[this](std::stop_token stop) { informer.run(std::move(stop)); }};
  EXPECT_TRUE(shows("a", "red"));
  const auto requests = source->requests();
  ASSERT_GE(requests.size(), 3U);
  EXPECT_FALSE(requests[2].is_watch);
  EXPECT_EQ(requests[0].options.resource_version, "0");

  EXPECT_THROW(static_cast<void>(source->watch({.resource_version = "99"}, {})), ApiError);
  source->expire_watches();
  EXPECT_THROW(static_cast<void>(source->watch({.resource_version = "1"}, {})), ApiError);
}

}  // namespace
}  // namespace kube
