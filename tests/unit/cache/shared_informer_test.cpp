// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/informer.hpp>
#include <kube/cache/shared_informer.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
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
