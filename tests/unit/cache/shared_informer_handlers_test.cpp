// SPDX-License-Identifier: Apache-2.0
// Handlers of a shared informer: added, removed, slow, failing.
#include <kube/cache/shared_informer.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Item;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::show;
using Strings = std::vector<std::string>;

// IE-4: a slow inline handler is counted and logged, at most once a minute, with the remedy.
TEST_F(SharedInformerTest, ReportsASlowInlineHandler) {
  std::vector<std::string> lines;
  std::mutex mutex;
  options.log = Logger{[&](LogLevel level, std::string_view, std::string_view text) {
    const std::lock_guard guard{mutex};
    if (level == LogLevel::kWarning) lines.emplace_back(text);
  }};
  const auto metrics = std::make_shared<Metrics>();
  options.metrics = InformerMetrics::in(metrics, {{"name", "test"}});
  std::atomic<int> calls = 0;
  make().add_event_handler({.on_add =
                                [&](const Item&) {
                                  clock.advance(11ms);
                                  ++calls;
                                }},
                           {.name = "slow", .delivery = Delivery::kInline});
  start_and_sync();
  server->put("a", "x");
  server->put("a", "y");
  ASSERT_TRUE(eventually([&] { return calls == 2; }));
  stop();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(
      lines.front().find("slow: the inline handler took 11 ms for a/x; workers call it from now "
                         "on. Use Delivery::kQueued for a handler that takes longer than 10 "
                         "ms"),
      std::string::npos)
      << lines.front();
  EXPECT_NE(metrics->text().find("informer_slow_inline_calls_total{name=\"test\"} 2"),
            std::string::npos);
}

// S-13, S-14, K-19, P-11
TEST_F(SharedInformerTest, ReplaysTheCacheToALateHandler) {
  server->put("a", "x");
  start_and_sync();
  server->put("a", "x");
  server->put("a", "y");
  settle();
  Recorder late;
  const auto registration = informer->add_event_handler(late.handler());
  server->put("a", "x");
  server->remove("a", "y");
  ASSERT_TRUE(late.wait_for_count(4));
  ASSERT_TRUE(wait(registration.synced()));
  EXPECT_EQ(late.believes(), "a/x@4");
  EXPECT_EQ(late.contradiction(), "");
  const Strings events = late.events();
  EXPECT_EQ(events[2], "update a/x@2>4");
  EXPECT_EQ(events[3], "delete a/y@5");

  server->remove("a", "x");
  settle();
  Recorder empty;
  EXPECT_TRUE(wait(informer->add_event_handler(empty.handler()).synced()));
  stop();
}

// S-13, S-19, K-19: no gap and no repetition, whenever handlers are added and removed.
TEST_F(SharedInformerTest, GivesEveryHandlerAConsistentHistory) {
  start_and_sync();
  std::atomic<bool> done = false;
  std::jthread writer{[&] {
    for (int i = 0; i < 600; ++i) {
      const std::string name = fmt::format("x{}", i % 17);
      if (i % 5 == 4) {
        server->remove("a", name);
      } else {
        server->put("a", name);
      }
    }
    done = true;
  }};
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<HandlerRegistration> registrations;
  while (!done || recorders.size() < 5) {
    recorders.push_back(std::make_unique<Recorder>());
    registrations.push_back(informer->add_event_handler(recorders.back()->handler()));
    if (recorders.size() % 3 == 0) informer->remove_event_handler(registrations.back());
    if (recorders.size() > 200) break;
    std::this_thread::yield();
  }
  writer.join();
  settle();
  const std::string truth = show(server->objects());
  for (std::size_t i = 0; i < recorders.size(); ++i) {
    EXPECT_EQ(recorders[i]->contradiction(), "") << i;
    if (i % 3 == 2) continue;
    EXPECT_TRUE(recorders[i]->wait_until_believes(truth)) << i << ": " << recorders[i]->believes();
  }
  stop();
}

// S-11, P-2
TEST_F(SharedInformerTest, TakesAHandlerSeveralTimes) {
  server->put("a", "x");
  Recorder recorder;
  make();
  const auto first = informer->add_event_handler(recorder.handler());
  const auto second = informer->add_event_handler(recorder.handler());
  start_and_sync();
  ASSERT_TRUE(recorder.wait_for_count(2));
  informer->remove_event_handler(first, Removal::kAtOnceAndWait);
  server->put("a", "x");
  ASSERT_TRUE(recorder.wait_for_count(3));
  settle();
  EXPECT_EQ(recorder.events().size(), 3U);
  stop();
}

// S-16, S-17
TEST_F(SharedInformerTest, ForgetsHandlersAsOftenAsAsked) {
  Recorder recorder;
  make();
  const auto before = informer->add_event_handler(recorder.handler());
  informer->remove_event_handler(before);
  informer->remove_event_handler(before);
  informer->remove_event_handler(HandlerRegistration{});
  SharedIndexInformer<Item> other{server};
  const auto foreign = other.add_event_handler({});
  informer->remove_event_handler(foreign);
  start_and_sync();
  const auto running = informer->add_event_handler(recorder.handler());
  informer->remove_event_handler(running, Removal::kAtOnceAndWait);
  server->put("a", "x");
  settle();
  stop();
  informer->remove_event_handler(running, Removal::kDrainAndWait);
  EXPECT_TRUE(recorder.events().empty());
  stop();
}

// S-18, K-18: waits for the call under way; waiting notifications are dropped, or delivered when
// draining.
TEST_F(SharedInformerTest, RemovesAHandlerAndWaitsForIt) {
  server->put("a", "x");
  for (const Removal how : {Removal::kAtOnceAndWait, Removal::kDrainAndWait}) {
    informer.reset();
    make();
    std::latch entered{1};
    std::latch leave{1};
    std::atomic<int> calls = 0;
    const auto registration = informer->add_event_handler({.on_add = [&](const Item&) {
      if (calls++ == 0) {
        entered.count_down();
        leave.wait();
      }
    }});
    start_and_sync();
    entered.wait();
    server->put("a", fmt::format("y{}", static_cast<int>(how)));
    server->put("a", fmt::format("z{}", static_cast<int>(how)));
    while (registration.backlog() < 2) std::this_thread::yield();
    auto removed =
        std::async(std::launch::async, [&] { informer->remove_event_handler(registration, how); });
    ASSERT_TRUE(
        eventually([&] { return informer->backlog() == 0; }));  // it is not counted any more
    EXPECT_EQ(removed.wait_for(1ms), std::future_status::timeout);
    leave.count_down();
    ASSERT_EQ(removed.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(calls,
              how == Removal::kDrainAndWait ? static_cast<int>(server->objects().size()) : 1);
    stop();
  }
  stop();
}

// K-18: a handler may remove itself.
TEST_F(SharedInformerTest, LetsAHandlerRemoveItself) {
  server->put("a", "x");
  make();
  std::atomic<int> calls = 0;
  std::promise<HandlerRegistration> registered;
  auto registration = registered.get_future().share();
  registered.set_value(informer->add_event_handler({.on_add = [&](const Item&) {
    ++calls;
    informer->remove_event_handler(registration.get(), Removal::kAtOnceAndWait);
  }}));
  start_and_sync();
  while (calls == 0) std::this_thread::yield();
  server->put("a", "y");
  settle();
  stop();
  EXPECT_EQ(calls, 1);
  stop();
}

// P-3, K-1: a blocked handler does not delay the others, and its backlog is bounded.
TEST_F(SharedInformerTest, CoalescesNotificationsForASlowHandler) {
  std::latch leave{1};
  std::atomic<bool> stuck = false;
  std::atomic<std::size_t> crossed = 0;
  Recorder slow;
  Recorder quick;
  EventHandler<Item> handler = slow.handler();
  make();
  const auto registration = informer->add_event_handler(
      {.on_add =
           [&, add = handler.on_add](const Ref<Item>& now, bool initial) {
             if (!stuck.exchange(true)) leave.wait();
             add(now, initial);
           },
       .on_update = handler.on_update,
       .on_delete = handler.on_delete},
      {.high_water = 10, .on_high_water = [&](std::size_t backlog) { crossed = backlog; }});
  informer->add_event_handler(quick.handler(), {.backlog = BacklogPolicy::kUnbounded});
  start_and_sync();
  server->put("a", "first");
  while (!stuck) std::this_thread::yield();
  for (int i = 0; i < 2'000; ++i) {
    server->put("a", fmt::format("x{}", i % 20));
    if (i % 3 == 0) server->put("a", fmt::format("short-lived-{}", i));
    if (i % 3 == 0) server->remove("a", fmt::format("short-lived-{}", i));
    if (i % 100 == 7) server->remove("a", "x7");
  }
  settle();
  ASSERT_TRUE(quick.wait_for_count(1 + 2'000 + 2 * 667 + 20));
  EXPECT_LE(registration.backlog(), 60U);
  EXPECT_GT(crossed, 10U);
  leave.count_down();
  informer->remove_event_handler(registration, Removal::kDrainAndWait);
  EXPECT_EQ(slow.contradiction(), "");
  EXPECT_EQ(slow.believes(), show(server->objects()));
  EXPECT_LT(slow.events().size(), 100U);
  EXPECT_EQ(quick.contradiction(), "");
  stop();
}

// P-3: alternatively everything is kept, as in client-go.
TEST_F(SharedInformerTest, KeepsAllNotificationsForASlowHandlerIfEnabled) {
  std::latch leave{1};
  std::atomic<bool> stuck = false;
  std::atomic<int> updates = 0;
  make();
  const auto registration =
      informer->add_event_handler({.on_add =
                                       [&](const Item&) {
                                         stuck = true;
                                         leave.wait();
                                       },
                                   .on_update = [&](const Item&, const Item&) { ++updates; }},
                                  {.backlog = BacklogPolicy::kUnbounded, .high_water = 10});
  Recorder quick;
  informer->add_event_handler(quick.handler(), {.backlog = BacklogPolicy::kUnbounded});
  start_and_sync();
  for (int i = 0; i < 500; ++i) server->put("a", "x");
  ASSERT_TRUE(quick.wait_for_count(500));
  while (!stuck) std::this_thread::yield();
  EXPECT_GE(registration.backlog(), 400U);
  leave.count_down();
  informer->remove_event_handler(registration, Removal::kDrainAndWait);
  EXPECT_EQ(updates, 499);
  stop();
}

// IE-8, K-1, K-2: with the blocking policy back-pressure reaches the stream; a stop releases it.
TEST_F(SharedInformerTest, LetsASlowHandlerHoldTheStreamBack) {
  options.max_queued = 5;
  options.batch_size = 1;
  std::latch leave{1};
  make();
  const auto registration = informer->add_event_handler(
      {.on_add = [&](const Item&) { leave.wait(); }, .on_update = [](const Item&, const Item&) {}},
      {.backlog = BacklogPolicy::kBlock, .high_water = 10});
  start_and_sync();
  for (int i = 0; i < 500; ++i) server->put("a", "x");
  while (registration.backlog() < 10) std::this_thread::yield();
  EXPECT_LE(registration.backlog(), 10U);
  EXPECT_NE(informer->indexer().resource_version(), "500");
  EXPECT_LT(std::stoi(informer->last_sync_resource_version()), 60);
  auto stopped = std::async(std::launch::async, [&] { stop(); });
  leave.count_down();
  ASSERT_EQ(stopped.wait_for(10s), std::future_status::ready);
  stop();
}

TEST_F(SharedInformerTest, LosesNothingWhenAHandlerHoldsTheStreamBack) {
  options.max_queued = 3;
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(
      recorder.handler(), {.backlog = BacklogPolicy::kBlock, .high_water = 2});
  start_and_sync();
  for (int i = 0; i < 300; ++i) server->put("a", fmt::format("x{}", i % 7));
  ASSERT_TRUE(recorder.wait_for_count(300));
  EXPECT_EQ(recorder.contradiction(), "");
  EXPECT_EQ(recorder.believes(), show(server->objects()));
  stop();
}

// P-8, P-9, K-17
TEST_F(SharedInformerTest, ContinuesAfterAHandlerFails) {
  server->put("a", "x");
  server->put("a", "y");
  std::vector<std::string> failures;
  std::atomic<int> calls = 0;
  make();
  const auto registration = informer->add_event_handler(
      {.on_add =
           [&](const Item& now) {
             if (calls++ == 0) throw std::runtime_error("failed on " + now.metadata.name.str());
           }},
      {.name = "fragile",
       .on_error = [&](const CacheError& error) { failures.push_back(error.message); }});
  start_and_sync();
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(calls, 1);
  clock.advance(1s);
  EXPECT_TRUE(wait(registration.synced()));  // the failure counts as processed
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(registration.failures(), 1U);
  EXPECT_EQ(registration.last_failure(), "failed on x");
  EXPECT_EQ(failures, (Strings{"failed on x"}));
  EXPECT_EQ(registration.synced().name(),
            "SharedIndexInformer PartialObjectMetadata + event handler fragile");  // P-12
  stop();
}

// P-11, P-12, S-6
TEST_F(SharedInformerTest, IsSyncedBeforeASlowHandlerIs) {
  server->put("a", "x");
  std::latch leave{1};
  make();
  const auto registration =
      informer->add_event_handler({.on_add = [&](const Item&) { leave.wait(); }});
  start_and_sync();
  EXPECT_FALSE(registration.has_synced());
  leave.count_down();
  EXPECT_TRUE(wait(registration.synced()));
  EXPECT_EQ(informer->synced().name(), "SharedIndexInformer PartialObjectMetadata");
  stop();
}

// P-13, S-3: a stop waits for the call under way and drops the rest.
TEST_F(SharedInformerTest, WaitsForACallUnderWayWhenStopped) {
  for (int i = 0; i < 50; ++i) server->put("a", fmt::format("x{}", i));
  std::latch entered{1};
  std::latch leave{1};
  std::atomic<int> calls = 0;
  make().add_event_handler({.on_add = [&](const Item&) {
    if (calls++ == 0) {
      entered.count_down();
      leave.wait();
    }
  }});
  start_and_sync();
  entered.wait();
  auto stopped = std::async(std::launch::async, [&] { stop(); });
  ASSERT_TRUE(eventually([&] { return informer->is_stopped() && informer->backlog() == 0; }));
  EXPECT_EQ(stopped.wait_for(1ms), std::future_status::timeout);
  leave.count_down();
  ASSERT_EQ(stopped.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(calls, 1);
  stop();
}

// P-8
TEST_F(SharedInformerTest, LogsWhichObjectAHandlerFailedFor) {
  std::mutex mutex;
  std::vector<std::string> lines;
  options.log = Logger{[&](LogLevel, std::string_view, std::string_view text) {
                         const std::lock_guard guard{mutex};
                         lines.emplace_back(text);
                       },
                       LogLevel::kError};
  server->put("shop", "web");
  const HandlerRegistration registration = make().add_event_handler(
      {.on_add = [](const Item&) { throw std::runtime_error{"no colour"}; }}, {.name = "painter"});
  start_and_sync();
  ASSERT_TRUE(registration.synced().wait({}));
  stop();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("event handler painter: the handler failed for shop/web: no colour"),
            std::string::npos)
      << lines[0];
}

}  // namespace
}  // namespace kube
