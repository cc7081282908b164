// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/informer.hpp>
#include <kube/cache/lister.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/codec/json.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::FakeListWatch;
using testing_support::Item;
using testing_support::item;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::show;
using testing_support::status;
using testing_support::thread_count;
using testing_support::threads_return_to;
using Strings = std::vector<std::string>;

// C-7, C-8, P-4, P-5, S-6, S-7, S-12, S-15
TEST_F(SharedInformerTest, ReportsExistingObjectsAndChanges) {
  server->put("a", "x");
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(recorder.handler());
  EXPECT_FALSE(informer->has_synced());
  EXPECT_EQ(informer->last_sync_resource_version(), "");
  EXPECT_EQ(informer->last_error(), "not started");
  start_and_sync();
  EXPECT_TRUE(wait(registration.synced()));
  EXPECT_EQ(informer->last_sync_resource_version(), "1");
  EXPECT_EQ(informer->last_error(), "");

  server->put("a", "y");
  server->put("a", "x");
  server->remove("a", "y");
  ASSERT_TRUE(recorder.wait_for_count(4));
  EXPECT_EQ(recorder.events(),
            (Strings{"add* a/x@1", "add a/y@2", "update a/x@1>3", "delete a/y@4"}));
  EXPECT_EQ(show(informer->indexer().list()), "a/x@3");
  stop();
}

// IE-8: a list that completes while the queue is full of the previous one is stored nevertheless:
// the informer's own job empties the queue, and would wait for itself.
TEST_F(SharedInformerTest, ListsAgainWhileItsQueueIsFull) {
  options.clock = &system_clock();
  options.backoff.initial = 1us;
  options.backoff.cap = 1us;
  options.queue_kind = QueueKind::kDeltaFifo;
  options.max_queued = 1;
  for (int i = 0; i < 2000; ++i) server->put("a", fmt::format("x{}", i));
  server->script_watches(std::vector(5, api_error(410, "Gone")));
  start_and_sync();
  settle();
  EXPECT_EQ(informer->indexer().list().size(), 2000U);
  stop();
}

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

// C-8: events that contradict the cache.
TEST_F(SharedInformerTest, DecidesByTheCacheWhetherSomethingIsNew) {
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  server->emit({EventType::kAdded, item("a", "x", "7"), {}});
  server->emit({EventType::kModified, item("a", "y", "8"), {}});
  server->emit({EventType::kDeleted, item("a", "never", "9"), {}});  // K-30
  server->emit({EventType::kDeleted, item("a", "y", "10"), {}});
  ASSERT_TRUE(recorder.wait_for_count(4));
  EXPECT_EQ(recorder.events(),
            (Strings{"add* a/x@1", "update a/x@1>7", "add a/y@8", "delete a/y@10"}));
  stop();
}

// C-8: as in client-go, if enabled.
TEST_F(SharedInformerTest, ReportsUnknownDeletionsIfEnabled) {
  options.notify_unknown_deletes = true;
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  server->emit({EventType::kDeleted, item("a", "never", "9"), {}});
  EXPECT_TRUE(recorder.wait_for("delete a/never@9"));
  stop();
}

// C-9, S-15, S-20, S-21, K-16: a new list reports missed changes, and nothing else.
TEST_F(SharedInformerTest, ReportsMissedChangesAfterANewList) {
  server->put("a", "same");
  server->put("a", "gone");
  server->put("a", "changed");
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(recorder.handler());
  start_and_sync();
  ASSERT_TRUE(wait(registration.synced()));
  recorder.clear();
  const Ref<Item> same = informer->indexer().find("a/same");
  server->remove("a", "gone", true);
  server->put("a", "changed", {}, true);
  server->put("a", "new", {}, true);
  relist();
  ASSERT_TRUE(recorder.wait_for_count(3));
  settle();
  server->put("a", "last");
  ASSERT_TRUE(recorder.wait_for("add a/last@7"));
  EXPECT_EQ(recorder.events(),
            (Strings{"delete? a/gone@2", "update a/changed@3>5", "add a/new@6", "add a/last@7"}));
  EXPECT_EQ(informer->indexer().find("a/same"), same);  // the same block
  stop();
}

// C-9: handlers see the complete new store.
TEST_F(SharedInformerTest, StoresTheWholeListBeforeItReportsIt) {
  for (int i = 0; i < 100; ++i) server->put("a", fmt::format("x{}", i));
  std::atomic<std::size_t> least = 1000;
  make().add_event_handler(
      {.on_add = [&](const Item&) { least = std::min(least.load(), informer->indexer().size()); }});
  start_and_sync();
  stop();
  EXPECT_GE(least, 100U);
  stop();
}

// S-21: compatibility
TEST_F(SharedInformerTest, ReportsUnchangedObjectsIfEnabled) {
  options.notify_unchanged = true;
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  relist();
  EXPECT_TRUE(recorder.wait_for("update a/x@1>1"));
  stop();
}

// S-22: an object whose version was cleared is always reported, because a change cannot be ruled
// out.
TEST_F(SharedInformerTest, NeverTreatsObjectsWithoutVersionAsUnchanged) {
  options.transform = [](Item& object) { object.metadata.resource_version = ""; };
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  server->put("a", "x");
  EXPECT_TRUE(recorder.wait_for("update a/x@>"));
  stop();
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

// S-1, S-2, K-20
TEST_F(SharedInformerTest, RunsOnce) {
  start_and_sync();
  EXPECT_FALSE(informer->is_stopped());
  informer->run({});  // returns immediately
  stop();
  EXPECT_TRUE(informer->is_stopped());
  EXPECT_TRUE(informer->has_synced());
  informer->run({});
  stop();
}

// S-2, S-8, S-10, I-20, S-9, Y-9
TEST_F(SharedInformerTest, RefusesWhatComesTooLate) {
  server->put("a", "x");
  make().set_transform([](Item& object) { object.metadata.labels["t"] = "1"; });
  start_and_sync();
  const auto too_late = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(too_late([&] { informer->set_transform({}); }), "informer has already started");
  EXPECT_EQ(too_late([&] { informer->set_watch_error_handler({}); }),
            "informer has already started");
  informer->add_indexers({{"one", [](const Item&) { return Strings{"1"}; }}});
  EXPECT_EQ(informer->indexer().by_index("one", "1").size(), 1U);
  stop();
  EXPECT_EQ(too_late([&] { informer->add_event_handler({}, {.name = "late"}); }),
            "handler late was not added to shared informer because it has stopped already");
  EXPECT_EQ(too_late([&] { informer->add_indexers({}); }),
            "indexer was not added because it has stopped already");
  EXPECT_EQ(informer->indexer().size(), 1U);
  stop();
}

// S-5, P-1, IE-11, RT-2
TEST_F(SharedInformerTest, HasNoThreadsUnlessItRuns) {
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(recorder.handler());
  EXPECT_TRUE(threads_return_to(threads_before));
  // S-18: returns immediately
  informer->remove_event_handler(registration, Removal::kAtOnceAndWait);
  informer->add_event_handler(recorder.handler());
  start_and_sync();
  // The threads of run(), of a blocking source, of the loop and its workers, however many handlers
  // there are.
  const std::size_t most =
      threads_before + 3 + std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  for (int i = 0; i < 50; ++i) informer->add_event_handler(recorder.handler());
  server->put("a", "x");
  EXPECT_TRUE(recorder.wait_for_count(51));
  EXPECT_LE(thread_count(), most);
  stop();
}

// S-6: stop before sync.
TEST_F(SharedInformerTest, IsNotSyncedIfStoppedBefore) {
  server->hang_lists();
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(recorder.handler());
  start();
  ASSERT_TRUE(server->wait_for_requests(1));
  stop();
  EXPECT_FALSE(informer->has_synced());
  EXPECT_FALSE(registration.has_synced());
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

// P-14, P-15
TEST(EventHandlers, FilterTurnsChangesIntoAdditionsAndDeletions) {
  Recorder recorder;
  const EventHandler<Item> handler =
      filtered<Item>([](const Item& object) { return object.metadata.labels.contains("yes"); },
                     recorder.handler());
  const Ref<Item> yes1 = item("a", "x", "1", {{"yes", ""}});
  const Ref<Item> yes2 = item("a", "x", "2", {{"yes", ""}});
  const Ref<Item> no = item("a", "x", "3");
  handler.on_add(no, true);
  handler.on_add(yes1, true);
  handler.on_update(yes1, yes2);
  handler.on_update(yes2, no);
  handler.on_update(no, no);
  handler.on_update(no, yes1);
  handler.on_delete({key_of(*no), no, true});
  handler.on_delete({key_of(*yes1), yes1, false});
  EXPECT_EQ(recorder.events(), (Strings{"add* a/x@1", "update a/x@1>2", "delete a/x@2", "add a/x@1",
                                        "delete? a/x@1"}));
  const EventHandler<Item> nothing = filtered<Item>([](const Item&) { return true; }, {});
  nothing.on_add(yes1, false);
  nothing.on_update(yes1, yes2);
  nothing.on_delete({key_of(*yes1), yes1, true});
}

// P-15, S-33, I-3
TEST(EventHandlers, TakeFunctionsOfEachForm) {
  int calls = 0;
  const EventHandler<Item> handlers[] = {
      {.on_add = [&](const Item&) { ++calls; }},
      {.on_add = [&](const Item&, bool) { ++calls; }},
      {.on_add = [&](const Ref<Item>&) { ++calls; }},
      {.on_add = [&](const Ref<Item>&, bool) { ++calls; }},
      {.on_update = [&](const Item&, const Item&) { ++calls; }},
      {.on_update = [&](const Ref<Item>&, const Ref<Item>&) { ++calls; }},
      {.on_delete = [&](const Deleted<Item>&) { ++calls; }},
      {.on_delete = [&](const Item&) { ++calls; }},
      {.on_delete = [&](const Ref<Item>&) { ++calls; }},
  };
  const Ref<Item> object = item("a", "x", "1");
  for (const auto& handler : handlers) {
    if (handler.on_add) handler.on_add(object, true);
    if (handler.on_update) handler.on_update(object, object);
    if (handler.on_delete) handler.on_delete({key_of(*object), object, true});
  }
  EXPECT_EQ(calls, 9);

  Deleted<Item> seen;
  const auto any =
      detail::erase_handler<Item>({.on_delete = [&](const Deleted<Item>& gone) { seen = gone; }});
  any.on_delete({}, "a/x", false);
  EXPECT_EQ(seen.key, (ObjectKey{"a", "x"}));
  EXPECT_EQ(seen.object, nullptr);
  EXPECT_FALSE(seen.final_state_known);
  EXPECT_FALSE(any.on_add);
}

TEST(EventHandlers, GiveDeletedObjectsAsTheyWereSeenLast) {
  const Ref<Item> last = item("a", "x", "1");
  const Item* by_reference = nullptr;
  Ref<Item> by_ref;
  const EventHandler<Item> one{.on_delete = [&](const Item& gone) { by_reference = &gone; }};
  const EventHandler<Item> two{.on_delete = [&](const Ref<Item>& gone) { by_ref = gone; }};

  one.on_delete({key_of(*last), last, true});
  two.on_delete({key_of(*last), last, true});

  EXPECT_EQ(by_reference, last.get());
  EXPECT_EQ(by_ref, last);
}

// I-3, S-33
TEST(EventHandlers, LoseNoDeletionWithOnlyAKey) {
  std::vector<std::string> told;
  const auto tell = [&](const auto& gone) { told.push_back(key_of(gone).str()); };
  const auto by_reference =
      detail::erase_handler<Item>({.on_delete = [&](const Item& gone) { tell(gone); }});
  const auto by_ref =
      detail::erase_handler<Item>({.on_delete = [&](const Ref<Item>& gone) { tell(*gone); }});
  const auto untyped = detail::erase_handler<Value>(
      {.on_delete = [&](const Value& gone) { told.push_back(encode_json(gone)); }});

  by_reference.on_delete({}, "a/x", false);
  by_ref.on_delete({}, "a/x", false);
  untyped.on_delete({}, "a/x", false);
  untyped.on_delete({}, "node", false);

  EXPECT_EQ(told, (Strings{"a/x", "a/x", R"({"metadata":{"name":"x","namespace":"a"}})",
                           R"({"metadata":{"name":"node"}})"}));
}

// R-51, R-52, S-23 to S-27, P-6, P-7, C-7
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

// R-51: no resync while there is no watch.
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

// S-28, S-29, K-10
TEST_F(SharedInformerTest, ShowsOnlyTransformedObjects) {
  server->set_watch_list(true);
  std::atomic<int> calls = 0;
  options.transform = [&](const Ref<Item>& object) {
    ++calls;
    Item copy = *object;
    copy.metadata.labels["seen"] = "yes";
    return freeze(copy);
  };
  server->put("a", "x");
  std::atomic<int> unlabelled = 0;
  make().add_event_handler({.on_add = [&](const Item& now) {
    if (!now.metadata.labels.contains("seen")) ++unlabelled;
  }});
  start_and_sync();
  server->put("a", "y");
  settle();
  relist(1);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(unlabelled, 0);
  EXPECT_EQ(informer->indexer().list("", labels::Selector::parse("seen=yes")).size(), 2U);
  stop();
}

// S-8, R-11, R-13
TEST_F(SharedInformerTest, PassesListErrorsToOnError) {
  server->script_lists({api_error(403, "Forbidden")});
  std::promise<std::string> seen;
  make().set_watch_error_handler([](const ReflectorError&) { FAIL() << "the last one wins"; });
  informer->set_watch_error_handler([&](const ReflectorError& error) {
    try {
      std::rethrow_exception(error.cause());
    } catch (const ApiError& cause) {
      seen.set_value(cause.status().reason.str());
    }
  });
  start();
  auto reason = seen.get_future();
  ASSERT_EQ(reason.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(reason.get(), "Forbidden");
  // the reason why it is not synced
  EXPECT_NE(informer->last_error().find("Forbidden"), std::string::npos);
  EXPECT_FALSE(informer->has_synced());
  stop();
}

// The classic queue gives the same results.
TEST_F(SharedInformerTest, WorksWithTheDeltaFifo) {
  options.queue_kind = QueueKind::kDeltaFifo;
  options.resync = 30s;
  server->put("a", "x");
  server->put("a", "gone");
  Recorder recorder;
  make();
  const auto registration = informer->add_event_handler(recorder.handler());
  start_and_sync();
  ASSERT_TRUE(wait(registration.synced()));
  server->remove("a", "gone", true);
  server->put("a", "y", {}, true);
  relist();
  ASSERT_TRUE(recorder.wait_until_believes("a/x@1 a/y@4")) << recorder.believes();
  EXPECT_TRUE(recorder.wait_for("delete? a/gone@2"));
  EXPECT_TRUE(recorder.wait_for("add a/y@4"));
  recorder.clear();
  pass(30s);
  EXPECT_TRUE(recorder.wait_for("update a/x@1>1"));
  EXPECT_EQ(recorder.contradiction(), "");
  stop();
}

// C-1, C-2, C-6, C-12, K-3
TEST_F(SharedInformerTest, HasASimplerSiblingWithOneHandler) {
  server->put("a", "x");
  Recorder recorder;
  EventHandler<Item> handler = recorder.handler();
  std::vector<std::string> errors;
  options.on_error = [&](const CacheError& error) { errors.push_back(error.message); };
  options.indexers = {{"one", [](const Item&) { return Strings{"1"}; }}};
  auto simple = new_indexer_informer<Item>(
      server,
      {.on_add =
           [&, add = handler.on_add](const Ref<Item>& now, bool initial) {
             add(now, initial);
             throw std::runtime_error("failed");
           },
       .on_update = handler.on_update,
       .on_delete = handler.on_delete},
      {{"two", [](const Item&) { return Strings{"2"}; }}}, options);
  EXPECT_EQ(simple->last_sync_resource_version(), "");
  {
    std::jthread run{[&](std::stop_token token) { simple->run(std::move(token)); }};
    ASSERT_TRUE(wait(simple->synced()));
    ASSERT_TRUE(server->wait_for_watches(1));
    server->put("a", "x");
    server->remove("a", "x");
    ASSERT_TRUE(recorder.wait_for_count(3));
  }
  EXPECT_EQ(recorder.events(), (Strings{"add* a/x@1", "update a/x@1>2", "delete a/x@3"}));
  EXPECT_EQ(errors, (Strings{"failed"}));
  EXPECT_TRUE(simple->has_synced());
  EXPECT_EQ(simple->store().index_names(), (Strings{"namespace", "one", "two"}));
  simple->run({});  // once
  EXPECT_EQ(new_informer<Item>(server, recorder.handler())->has_synced(), false);
  stop();
}

// S-31, S-32, K-34
TEST_F(SharedInformerTest, IsWaitedForTogetherWithOthers) {
  SharedIndexInformer<Item> other{server, options};
  make();
  std::stop_source source;
  start();
  source.request_stop();
  EXPECT_FALSE(wait_for({informer->synced(), other.synced()}, source.get_token()));
  std::jthread second{[&](std::stop_token token) { other.run(std::move(token)); }};
  ASSERT_TRUE(wait(informer->synced()));
  ASSERT_TRUE(wait(other.synced()));
  EXPECT_TRUE(wait_for({informer->synced(), other.synced()}, source.get_token()));
  stop();
}

}  // namespace
}  // namespace kube
