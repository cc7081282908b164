// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/signals.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;

bool comes(const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  return stop.stop_requested();
}

// SG-1
TEST(SignalStop, RequestsAStopOnTheFirstSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto stop = stop_on_signals();
    const std::stop_token token = stop;
    EXPECT_FALSE(token.stop_requested());
    raise(signal);
    EXPECT_TRUE(comes(token));
  }
}

// SG-1
TEST(SignalStop, CannotBeSetUpTwiceAtATime) {
  {
    const auto stop = stop_on_signals();
    EXPECT_THROW(SignalStop{}, std::logic_error);
    EXPECT_FALSE(stop.token().stop_requested());
  }
  EXPECT_NO_THROW(SignalStop{});
}

TEST(SignalStop, RestoresThePreviousHandlers) {
  struct sigaction before {};
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &before);
  { const auto stop = stop_on_signals(); }
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

// SG-1
TEST(SignalStopDeathTest, EndsTheProcessOnTheSecondSignal) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto stop = stop_on_signals();
        raise(SIGTERM);
        (void)comes(stop);
        raise(SIGINT);
        _exit(0);
      },
      ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace kube
