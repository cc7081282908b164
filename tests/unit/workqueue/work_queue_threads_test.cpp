// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

/// Three threads write versions of items and add them, each in its own way; four workers record
/// which version they saw. In the end the last version of every item was seen, and no item was ever
/// processed by two workers at once.
template <typename Queue>
void check_that_nothing_is_lost(Queue& queue) {
  constexpr int kItems = 20;
  constexpr int kRounds = 300;
  std::array<std::atomic<int>, kItems> written{};
  std::array<std::atomic<int>, kItems> seen{};
  std::array<std::atomic<bool>, kItems> busy{};
  std::atomic<bool> shared = false;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        while (const auto item = queue.get()) {
          const auto at = static_cast<std::size_t>(*item);
          if (busy[at].exchange(true)) shared = true;
          seen[at] = written[at].load();
          busy[at] = false;
          queue.done(*item);
        }
      });
    }
    {
      std::vector<std::jthread> writers;
      for (int i = 0; i < 3; ++i) {
        writers.emplace_back([&, i] {
          for (int round = 0; round < kRounds; ++round) {
            const int item = (round * 7 + i) % kItems;
            ++written[static_cast<std::size_t>(item)];
            if (i == 0) queue.add(item);
            if (i == 1) queue.add_after(item, std::chrono::microseconds{round % 50});
            if (i == 2) queue.add_rate_limited(item);
            queue.forget(item);
          }
        });
      }
    }
    const auto until = std::chrono::steady_clock::now() + 10s;
    const auto all_seen = [&] {
      for (std::size_t at = 0; at < kItems; ++at) {
        if (seen[at] != written[at]) return false;
      }
      return true;
    };
    while (!all_seen() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(all_seen());
    queue.shut_down();
  }
  EXPECT_FALSE(shared);
}

std::unique_ptr<ItemRateLimiter<int>> short_delays() {
  return std::make_unique<ExponentialLimiter<int>>(10us, 1ms);
}

// WQ-4
TEST(RateLimitingQueue, LosesNothingAmongManyThreads) {
  RateLimitingQueue<int> queue{{.name = "q", .metrics = std::make_shared<Metrics>()},
                               short_delays()};
  check_that_nothing_is_lost(queue);
}

// WQ-33
TEST(PriorityQueue, LosesNothingAmongManyThreads) {
  PriorityQueue<int> queue{{.name = "q", .metrics = std::make_shared<Metrics>()}, short_delays()};
  check_that_nothing_is_lost(queue);
}

}  // namespace
}  // namespace kube
