// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/published.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace kube::detail {
namespace {

TEST(Published, ShowsTheNewestValue) {
  Published<int> value{1};
  EXPECT_EQ(*value.read(), 1);
  value.publish(2);
  EXPECT_EQ(*value.read(), 2);
}

TEST(Published, KeepsAnOldValueForItsReadersOnly) {
  auto first = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = first;
  Published<std::shared_ptr<int>> value{std::move(first)};
  {
    const auto one = value.read();
    const auto other = value.read();
    value.publish(std::make_shared<int>(2));
    EXPECT_EQ(**one, 1);
    EXPECT_EQ(**other, 1);
    EXPECT_EQ(**value.read(), 2);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

// K-13
TEST(Published, LosesNothingWhileManyReadAndOneReplaces) {
  constexpr int kLast = 20'000;
  struct Counted {
    Counted(std::atomic<int>& alive_count, int number) : alive(alive_count), value(number) {
      ++alive;
    }
    ~Counted() { --alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    std::atomic<int>& alive;
    int value;
  };
  std::atomic<int> alive = 0;
  {
    Published<std::unique_ptr<Counted>> value{std::make_unique<Counted>(alive, 0)};
    std::vector<std::jthread> readers;
    std::atomic<bool> in_order = true;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        for (int seen = 0; seen < kLast;) {
          const auto reader = value.read();
          if ((*reader)->value < seen) in_order = false;
          seen = (*reader)->value;
        }
      });
    }
    for (int i = 1; i <= kLast; ++i) value.publish(std::make_unique<Counted>(alive, i));
    readers.clear();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace kube::detail
