// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/published.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
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

TEST(Published, LetsOneThreadReadSeveralValues) {
  Published<int> number{1};
  Published<std::string> text{"a"};
  {
    const auto one = number.read();
    const auto other = text.read();
    number.publish(2);
    text.publish("b");
    EXPECT_EQ(*one, 1);
    EXPECT_EQ(*other, "a");
  }
  EXPECT_EQ(*number.read(), 2);
  EXPECT_EQ(*text.read(), "b");
}

// K-13
TEST(Published, ReusesTheHazardPointersOfEndedThreads) {
  Published<int> value{1};
  const auto read = [&] { EXPECT_EQ(*value.read(), 1); };
  std::thread{read}.join();
  const std::size_t before = HazardPointer::count();
  for (int i = 0; i < 100; ++i) std::thread{read}.join();
  EXPECT_EQ(HazardPointer::count(), before);
}

TEST(Published, CanBeReadByDestructorsOfThreadLocals) {
  static Published<int> value{1};
  static std::atomic<int> seen = 0;
  struct Last {
    ~Last() { seen = *value.read() + *value.read(); }
  };
  std::thread{[] {
    static thread_local const Last kLast;
    static_cast<void>(&kLast);
    seen = *value.read();  // the thread's hazard pointer is released before kLast is destroyed
  }}.join();
  EXPECT_EQ(seen, 2);
  const std::size_t before = HazardPointer::count();
  std::thread{[] { static_cast<void>(*value.read()); }}.join();
  EXPECT_EQ(HazardPointer::count(), before);
}

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

// K-13
TEST(Published, DeletesEachValueOnceWhileManyReadAndOneReplaces) {
  constexpr int kLast = 20'000;
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

// K-13: the memory of one deleted value may be reused for the other immediately, while a reader has
// only begun to protect it.
TEST(Published, DeletesEachValueOnceWhileValuesOfTwoKindsAreReplaced) {
  constexpr int kLast = 10'000;
  struct Other {
    std::unique_ptr<Counted> counted;
  };
  std::atomic<int> alive = 0;
  {
    Published<std::unique_ptr<Counted>> one{std::make_unique<Counted>(alive, 0)};
    Published<Other> other{Other{std::make_unique<Counted>(alive, 0)}};
    std::vector<std::jthread> threads;
    std::atomic<bool> in_order = true;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        int of_one = 0;
        int of_other = 0;
        while (of_one < kLast || of_other < kLast) {
          const auto first = one.read();
          const auto second = other.read();
          if ((*first)->value < of_one || second->counted->value < of_other) in_order = false;
          of_one = (*first)->value;
          of_other = second->counted->value;
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 1; i <= kLast; ++i) one.publish(std::make_unique<Counted>(alive, i));
    });
    for (int i = 1; i <= kLast; ++i) other.publish(Other{std::make_unique<Counted>(alive, i)});
    threads.clear();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace kube::detail
