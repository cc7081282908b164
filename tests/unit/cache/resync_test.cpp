// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::status;
using Strings = std::vector<std::string>;

// S-23 to S-27, P-6, P-7, C-7
TEST_F(SharedInformerTest, ResyncsOnlyHandlersThatAreDue) {
  options.resync = 30s;
  options.resync_chunk = 2;
  for (int i = 0; i < 5; ++i) server->put("a", fmt::format("x{}", i));
  Recorder often;
  Recorder seldom;
  Recorder never;
  make();
  informer->add_event_handler(often.handler());                    // the informer's period
  informer->add_event_handler(seldom.handler(), {.resync = 45s});  // rounded up to 60 s
  informer->add_event_handler(never.handler(), {.resync = 0s});
  start_and_sync();
  ASSERT_TRUE(never.wait_for_count(5));
  pass(30s);
  ASSERT_TRUE(often.wait_for_count(10));
  pass(30s);
  ASSERT_TRUE(often.wait_for_count(15));
  ASSERT_TRUE(seldom.wait_for_count(10));
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(often.events().size(), 15U);
  EXPECT_EQ(seldom.events().size(), 10U);
  EXPECT_EQ(never.events().size(), 5U);
  EXPECT_EQ(seldom.events().at(7), "update a/x2@3>3");
  EXPECT_EQ(server->requests().size(), 2U);  // S-27: no request was sent
  stop();
}

// S-24, S-25
TEST_F(SharedInformerTest, AdaptsItsResyncToHandlers) {
  options.resync = 1h;
  server->put("a", "x");
  Recorder quick;
  Recorder hourly;
  make();
  informer->add_event_handler(hourly.handler());
  informer->add_event_handler(quick.handler(), {.resync = 1ms});  // raised to a second
  start_and_sync();
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(clock.next_deadline() - clock.now(), 1s);
  Recorder late;
  informer->add_event_handler(late.handler(), {.resync = 1ms});
  pass(1s);
  ASSERT_TRUE(quick.wait_for_count(2));
  ASSERT_TRUE(late.wait_for_count(2));
  ASSERT_TRUE(hourly.wait_for_count(1));
  EXPECT_EQ(hourly.events().size(), 1U);
  stop();
}

// S-23, R-5
TEST_F(SharedInformerTest, NeverResyncsIfTheInformerDoesNot) {
  std::vector<std::string> lines;
  options.log =
      Logger{[&](LogLevel, std::string_view, std::string_view text) { lines.emplace_back(text); },
             LogLevel::kWarning};
  make();
  informer->add_event_handler({}, {.name = "hopeful", .resync = 10s});
  EXPECT_EQ(lines,
            (Strings{"handler hopeful: no resync, because the informer has no resync period"}));
  start_and_sync();
  EXPECT_EQ(clock.sleepers(), 0U);
  stop();
}

// K-15: the first resync is delayed by a jitter that differs from informer to informer.
TEST_F(SharedInformerTest, SpreadsResyncs) {
  options.resync = 100s;
  options.random = [] { return 0.5; };
  make();
  start_and_sync();
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(clock.next_deadline() - clock.now(), 105s);
  stop();
}

// no resync while there is no watch.
TEST_F(SharedInformerTest, DoesNotResyncWithoutAWatch) {
  options.resync = 30s;
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  ASSERT_TRUE(recorder.wait_for_count(1));
  server->end_watches(status(410, "Expired"));
  // Only the back-off waits then, no resync.
  EXPECT_TRUE(eventually(
      [&] { return clock.sleepers() == 1 && clock.next_deadline() - clock.now() < 2s; }));
  EXPECT_EQ(recorder.events().size(), 1U);
  stop();
}

}  // namespace
}  // namespace kube
