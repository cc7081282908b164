// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kube {
namespace {

using namespace std::chrono_literals;

// WQ-12
TEST(RateLimitingQueue, AddsAnItemAfterTheDelayOfItsLimiter) {
  testkit::FakeClock clock;
  RateLimitingQueue<std::string> queue{{.clock = &clock}};
  for (const auto delay : {5ms, 10ms, 20ms, 40ms}) {
    queue.add_rate_limited("a");
    clock.advance(delay - 1ns);
    EXPECT_EQ(queue.size(), 0U);
    clock.advance(1ns);
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.get(), "a");
    queue.done("a");
  }
  EXPECT_EQ(queue.num_requeues("a"), 4);
}

// WQ-12
TEST(RateLimitingQueue, ForgetsTheFailuresAndNotTheItem) {
  testkit::FakeClock clock;
  RateLimitingQueue<std::string> queue{{.clock = &clock},
                                       std::make_unique<ExponentialLimiter<std::string>>(1s, 1h)};
  queue.add_rate_limited("a");
  queue.add_rate_limited("a");
  queue.forget("a");
  EXPECT_EQ(queue.num_requeues("a"), 0);
  clock.advance(1s);

  EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
}  // namespace kube
