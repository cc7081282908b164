// SPDX-License-Identifier: Apache-2.0
// The loop without memory: each allocation in turn fails, alone or with those that follow it. No
// exchange is lost, and everything works again afterwards.
#include <fmt/format.h>

#include <cstdlib>
#include <new>

#include "helpers.hpp"
#include "scripted_peers.hpp"

namespace {

/// How many allocations succeed before some fail; negative: none fails.
long left = -1;
long failing = 0;
bool failed = false;

bool must_fail() {
  if (left < 0 || kube::test::TestCode::runs()) return false;
  if (left > 0) {
    --left;
    return false;
  }
  failed = true;
  if (--failing == 0) left = -1;
  return true;
}

}  // namespace

void* operator new(std::size_t size) {
  if (must_fail()) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace kube::test {
namespace {

using detail::Exchange;

std::string answer_with(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
                     chunk(body));
}

/// Scripts the events: a GOAWAY or a close of the first connection, a timeout, a cancellation.
void write_script(Schedule& schedule, bool http2) {
  ScriptedNetwork& network = schedule.network();
  const auto canceled = schedule.post({.target = "/canceled"});
  schedule.post({.target = "/late", .timeout = 50ms});
  network.at(4, [&network] { network.time.advance(60ms); });
  network.at(6, [canceled] { canceled->cancel(); });
  network.at(9, [&network, http2] {
    if (!http2 || network.wires.empty()) return;
    dynamic_cast<Http2Peer&>(*network.wires.front()->peer).go_away();
  });
  network.at(12, [&network] {
    network.time.advance(31s);
    if (!network.wires.empty()) network.wires.front()->peer->ended = true;
  });
}

class WithoutMemory : public testing::TestWithParam<bool> {
 protected:
  /// Returns false if no more than `successes` allocations are made.
  bool run(long successes, long failures) {
    const bool http2 = GetParam();
    Handled handled;
    int reports = 0;
    Schedule schedule{http2,
                      [&](std::size_t index) -> std::unique_ptr<ScriptedPeer> {
                        const bool hold = index == 0 && !schedule.network().script_is_over();
                        if (http2) return std::make_unique<Http2Peer>(handled, hold);
                        return std::make_unique<Http1Peer>(handled, answer_with);
                      },
                      {.on_exchange = [&](const ExchangeReport&) { ++reports; }}};
    const std::vector<std::shared_ptr<Exchange>> exchanges = {
        schedule.post({.target = "/1"}), schedule.post({.method = "POST", .target = "/2"}),
        schedule.post({.target = "/3", .lane = Lane::kWatches})};
    write_script(schedule, http2);
    failed = false;
    failing = failures;
    left = successes;
    const bool ends = schedule.run();
    left = -1;
    EXPECT_TRUE(ends);
    for (const auto& exchange : exchanges) {
      const std::string result = outcome(*exchange);
      EXPECT_TRUE(result == "200 " + exchange->request.target || result.starts_with("error: "))
          << result;
    }

    const auto again = schedule.post({.target = "/again"});
    EXPECT_TRUE(schedule.run());
    EXPECT_EQ(outcome(*again), "200 /again");
    EXPECT_EQ(schedule.leftovers(), "");
    if (!failed) {
      EXPECT_EQ(reports, 6);
    }
    return failed;
  }
};

INSTANTIATE_TEST_SUITE_P(Http, WithoutMemory, testing::Values(false, true),
                         [](const auto& param) { return param.param ? "Two" : "One"; });

// RC-26
TEST_P(WithoutMemory, EveryExchangeEndsAndTheNextIsAnswered) {
  long tried = 0;
  while (run(tried, 1)) {
    ASSERT_FALSE(HasFailure()) << "allocation " << tried;
    ++tried;
  }
  EXPECT_GT(tried, 50);
}

TEST_P(WithoutMemory, EveryExchangeEndsWhenNoAllocationSucceedsForAWhile) {
  for (const long failures : {2L, 5L, 20L}) {
    long tried = 0;
    while (run(tried, failures)) {
      ASSERT_FALSE(HasFailure()) << failures << " allocations from " << tried;
      ++tried;
    }
  }
}

}  // namespace
}  // namespace kube::test
