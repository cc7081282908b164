// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/delta_queue.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "base/waker.hpp"
#include "support/items.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using detail::ObjectRef;
using testing_support::Item;
using testing_support::item;

const detail::ObjectAccess& kAccess = detail::kObjectAccess<Item>;

ObjectRef object(std::string_view name, std::string_view version = "1") {
  return ObjectRef::from(item("a", name, version));
}

/// "Added x@1", "Deleted x@2", "Deleted? x@1" (a tombstone), "ReplacedAll@7[x@1 y@2]".
std::string show(const detail::AnyDelta& delta) {
  std::string text{to_string(delta.type)};
  if (delta.tombstone) text += '?';
  const auto one = [](const ObjectRef& o) {
    return fmt::format("{}@{}", o.as<Item>().metadata.name.view(),
                       o.as<Item>().metadata.resource_version.view());
  };
  if (delta.object) {
    text += ' ' + one(delta.object);
  } else if (!delta.key.empty()) {
    text += " key " + delta.key;
  }
  if (!delta.version.empty()) text += '@' + delta.version;
  if (delta.type == DeltaType::kReplacedAll) {
    text += '[';
    for (const ObjectRef& o : delta.objects) text += (text.back() == '[' ? "" : " ") + one(o);
    text += ']';
  }
  return text;
}

/// Pops once; returns "-" if the queue is empty.
std::string pop(detail::DeltaQueueCore& queue, bool* initial = nullptr) {
  std::string text = "-";
  (void)queue.pop(
      [&](std::vector<detail::AnyDelta>& deltas, bool in_initial_list) {
        text.clear();
        for (const detail::AnyDelta& delta : deltas)
          text += (text.empty() ? "" : ", ") + show(delta);
        if (initial != nullptr) *initial = in_initial_list;
      },
      false);
  return text;
}

// F-1, F-2, F-3, D: nothing is merged, order holds across keys.
TEST(InOrderQueue, KeepsEveryDeltaInOrder) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.batch_size = 1}};
  queue.add(object("x", "1"));
  queue.update(object("y", "2"));
  queue.update(object("x", "3"));
  queue.update(object("x", "4"));
  queue.erase(object("unknown", "5"));

  EXPECT_EQ(queue.size(), 5U);
  EXPECT_EQ(pop(queue), "Added x@1");
  EXPECT_EQ(pop(queue), "Updated y@2");
  EXPECT_EQ(pop(queue), "Updated x@3");
  EXPECT_EQ(pop(queue), "Updated x@4");
  EXPECT_EQ(pop(queue), "Deleted unknown@5");
  EXPECT_EQ(pop(queue), "-");
}

// F-5: deltas that were taken are released.
TEST(InOrderQueue, ReleasesDeltasThatWereTaken) {
  detail::InOrderQueueCore queue{kAccess};
  const Ref<Item> held = item("a", "x", "1");
  queue.add(ObjectRef::from(held));
  EXPECT_EQ(held.use_count(), 2U);
  (void)pop(queue);
  EXPECT_EQ(held.use_count(), 1U);
}

// F-8, F-9, F-10
TEST(InOrderQueue, TakesListsResyncsAndBookmarksAsOneDelta) {
  detail::InOrderQueueCore queue{kAccess};
  queue.add(object("x", "1"));
  queue.replace({object("y", "2"), object("z", "3")}, "7");
  queue.resync(nullptr);
  queue.bookmark("9");
  EXPECT_EQ(pop(queue), "Added x@1");
  EXPECT_EQ(pop(queue), "ReplacedAll@7[y@2 z@3]");
  EXPECT_EQ(pop(queue), "SyncAll");
  EXPECT_EQ(pop(queue), "Bookmark@9");
}

// F-10: a bookmark does not make the queue count as populated.
TEST(InOrderQueue, IsNotSyncedByABookmark) {
  detail::InOrderQueueCore queue{kAccess};
  queue.bookmark("9");
  EXPECT_FALSE(queue.has_synced());
  bool initial = false;
  (void)pop(queue, &initial);
  EXPECT_TRUE(initial);
  EXPECT_FALSE(queue.has_synced());
}

// F-11, F-12
TEST(InOrderQueue, IsSyncedWhenTheFirstListHasBeenProcessed) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.name = "InOrderQueue Item"}};
  EXPECT_FALSE(queue.has_synced());
  queue.replace({}, "1");
  EXPECT_FALSE(queue.has_synced());
  bool during = true;
  (void)queue.pop([&](std::vector<detail::AnyDelta>&, bool initial) {
    EXPECT_TRUE(initial);
    during = queue.has_synced();
  });
  EXPECT_FALSE(during);
  EXPECT_TRUE(queue.has_synced());
  EXPECT_EQ(queue.synced().name(), "InOrderQueue Item");

  queue.replace({object("x")}, "2");  // a later list changes nothing
  EXPECT_TRUE(queue.has_synced());
  bool initial = true;
  (void)pop(queue, &initial);
  EXPECT_FALSE(initial);
}

//
TEST(InOrderQueue, IsSyncedAtOnceIfAnEventCameFirst) {
  detail::InOrderQueueCore queue{kAccess};
  queue.add(object("x"));
  EXPECT_TRUE(queue.has_synced());
  bool initial = true;
  (void)pop(queue, &initial);
  EXPECT_FALSE(initial);
}

// K-4: a list that could not be applied does not count.
TEST(InOrderQueue, IsNotSyncedByAListThatFailed) {
  detail::InOrderQueueCore queue{kAccess};
  queue.replace({object("x")}, "1");
  EXPECT_THROW((void)queue.pop([](auto&, bool) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_FALSE(queue.has_synced());
  queue.add(object("y"));
  (void)pop(queue);
  EXPECT_FALSE(queue.has_synced());
  queue.replace({object("x")}, "2");
  (void)pop(queue);
  EXPECT_TRUE(queue.has_synced());
}

// F-13, F-14
TEST(InOrderQueue, LimitsABatch) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.batch_size = 3}};
  queue.add(object("a"));
  queue.add(object("b"));
  queue.update(object("a", "2"));
  queue.update(object("c"));
  queue.update(object("d"));
  queue.update(object("e"));
  queue.bookmark("9");
  queue.update(object("e", "2"));
  queue.replace({}, "10");

  EXPECT_EQ(pop(queue), "Added a@1, Added b@1");  // ends before a key that is already in the batch
  EXPECT_EQ(pop(queue), "Updated a@2, Updated c@1, Updated d@1");  // ends at the maximum size
  EXPECT_EQ(pop(queue), "Updated e@1");  // ends before a delta that concerns all objects
  EXPECT_EQ(pop(queue), "Bookmark@9");
  EXPECT_EQ(pop(queue), "Updated e@2");
  EXPECT_EQ(pop(queue), "ReplacedAll@10[]");
}

// F-13: the border between initial and later items.
TEST(InOrderQueue, DoesNotMixInitialAndLaterItemsInABatch) {
  detail::InOrderQueueCore queue{kAccess};
  queue.replace({object("x")}, "1");
  queue.add(object("y"));
  bool initial = false;
  EXPECT_EQ(pop(queue, &initial), "ReplacedAll@1[x@1]");
  EXPECT_TRUE(initial);
  EXPECT_EQ(pop(queue, &initial), "Added y@1");
  EXPECT_FALSE(initial);
}

//
TEST(InOrderQueue, ReturnsRemainingDeltasAfterClosing) {
  detail::InOrderQueueCore queue{kAccess};
  auto waiting = std::async(std::launch::async, [&] { return queue.pop([](auto&, bool) {}); });
  queue.close();
  ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(waiting.get(), PopResult::kClosed);
  EXPECT_EQ(to_string(PopResult::kClosed), "the queue is closed");

  queue.add(object("x"));
  EXPECT_EQ(pop(queue), "Added x@1");
  EXPECT_EQ(queue.pop([](auto&, bool) {}), PopResult::kClosed);
}

// what was taken is not put back.
TEST(InOrderQueue, DropsDeltasWhoseProcessingFailed) {
  detail::InOrderQueueCore queue{kAccess};
  queue.add(object("x"));
  EXPECT_THROW((void)queue.pop([](auto&, bool) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(queue.size(), 0U);
}

// Q-9, K-4: an object without a key is rejected immediately.
TEST(InOrderQueue, RefusesAnObjectWithoutName) {
  detail::InOrderQueueCore queue{kAccess};
  EXPECT_THROW(queue.add(object("")), KeyError);
  EXPECT_EQ(queue.size(), 0U);
}

// K-2: a full queue blocks producers until the consumer makes room or the queue is closed.
TEST(InOrderQueue, BlocksProducersWhenFull) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.max_items = 2, .batch_size = 1}};
  queue.add(object("a"));
  queue.add(object("b"));
  std::atomic<int> pushed = 0;
  std::jthread producer{[&] {
    for (const char* name : {"c", "d", "e"}) {
      queue.add(object(name));
      ++pushed;
    }
  }};
  std::vector<std::string> taken;
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(queue.size(), 2U);
    (void)queue.pop(
        [&](std::vector<detail::AnyDelta>& deltas, bool) { taken.push_back(show(deltas[0])); });
  }
  EXPECT_LE(pushed, 3);
  queue.close();
  producer.join();
  EXPECT_EQ(pushed, 3);
  while (queue.size() > 0) taken.push_back(pop(queue));
  EXPECT_EQ(taken, (std::vector<std::string>{"Added a@1", "Added b@1", "Added c@1", "Added d@1",
                                             "Added e@1"}));
}

// K-2: a producer with more deltas to come wakes the consumer after the last one, or when the queue
// is full.
TEST(InOrderQueue, WakesTheConsumerWhenItIsFullOrNothingMoreFollows) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.max_items = 3}};
  std::promise<std::string> all;
  std::jthread consumer{[&] {
    std::string text;
    for (std::size_t count = 0; count < 4;) {
      (void)queue.pop([&](std::vector<detail::AnyDelta>& deltas, bool) {
        count += deltas.size();
        for (const detail::AnyDelta& delta : deltas) text += show(delta) + ';';
      });
    }
    all.set_value(text);
  }};
  auto taken = all.get_future();
  queue.hold(true);
  for (const char* name : {"a", "b", "c", "d"}) queue.add(object(name));
  queue.hold(false);
  ASSERT_EQ(taken.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(taken.get(), "Added a@1;Added b@1;Added c@1;Added d@1;");
}

// K-2: compression keeps order and every deletion.
TEST(InOrderQueue, CompressesUpdatesOfOneObjectWhenAsked) {
  detail::InOrderQueueCore queue{kAccess, nullptr, {.batch_size = 1, .compress = true}};
  queue.add(object("x", "1"));
  queue.update(object("y", "2"));
  queue.update(object("x", "3"));
  queue.update(object("x", "4"));
  queue.erase(object("x", "5"));
  queue.add(object("x", "6"));
  queue.update(object("x", "7"));
  queue.replace({}, "8");
  queue.update(object("x", "9"));
  EXPECT_EQ(queue.size(), 6U);
  EXPECT_EQ(pop(queue), "Updated y@2");
  EXPECT_EQ(pop(queue), "Updated x@4");
  EXPECT_EQ(pop(queue), "Deleted x@5");
  EXPECT_EQ(pop(queue), "Updated x@7");
  EXPECT_EQ(pop(queue), "ReplacedAll@8[]");
  EXPECT_EQ(pop(queue), "Updated x@9");
  EXPECT_EQ(pop(queue), "-");
}

// M-3
TEST(InOrderQueue, ExportsTheNumberOfWaitingDeltas) {
  Metrics metrics;
  const Gauge queued = metrics.gauge("queued", "");
  detail::InOrderQueueCore queue{kAccess, nullptr, {.queued = queued}};
  queue.add(object("x"));
  queue.bookmark("3");
  EXPECT_EQ(queued.value(), 2);
  (void)pop(queue);
  EXPECT_EQ(queued.value(), 1);
}

//
TEST(InOrderQueue, LogsSlowProcessing) {
  testkit::FakeClock clock;
  std::vector<std::string> lines;
  detail::InOrderQueueCore queue{
      kAccess,
      nullptr,
      {.name = "items",
       .batch_size = 1,
       .clock = &clock,
       .log = Logger{
           [&](LogLevel, std::string_view, std::string_view text) { lines.emplace_back(text); }}}};
  for (int i = 0; i < 13; ++i) queue.add(object(fmt::format("x{}", i)));
  (void)queue.pop([&](auto&, bool) { clock.advance(100ms); });
  EXPECT_TRUE(lines.empty());
  (void)queue.pop([&](auto&, bool) { clock.advance(101ms); });
  EXPECT_EQ(lines.size(), 1U);
  (void)queue.pop([&](auto&, bool) { clock.advance(101ms); });  // only ten are left
  EXPECT_EQ(lines.size(), 1U);
}

/// Counts how often it was woken.
struct CountingWaker final : detail::Waker {
  void wake() noexcept override { ++count; }
  int count = 0;
};

// a polling consumer is woken for each change, unless the queue is held.
TEST(InOrderQueue, WakesItsConsumer) {
  detail::InOrderQueueCore queue{kAccess};
  const auto consumer = std::make_shared<CountingWaker>();
  queue.set_consumer(consumer);
  queue.add(object("x", "1"));
  EXPECT_EQ(consumer->count, 1);
  queue.hold(true);
  queue.add(object("y", "2"));
  EXPECT_EQ(consumer->count, 1);
  queue.hold(false);

  detail::DeltaQueueCore::Taken taken;
  ASSERT_TRUE(queue.take(taken));
  EXPECT_EQ(taken.deltas.size(), 2U);
  EXPECT_TRUE(queue.has_synced());  // an event came first
  queue.processed(taken, false);
  EXPECT_FALSE(queue.take(taken));
  queue.set_consumer(nullptr);
  queue.add(object("z", "3"));
  EXPECT_EQ(consumer->count, 1);
}

// D-1, D-2
TEST(DeltaFifo, ReturnsAllDeltasOfTheOldestKey) {
  detail::DeltaFifoCore queue{kAccess};
  queue.add(object("x", "1"));
  queue.add(object("y", "2"));
  queue.update(object("x", "3"));
  queue.update(object("x", "4"));
  EXPECT_EQ(pop(queue), "Added x@1, Updated x@3, Updated x@4");
  queue.update(object("x", "5"));
  EXPECT_EQ(pop(queue), "Added y@2");
  EXPECT_EQ(pop(queue), "Updated x@5");
  EXPECT_EQ(pop(queue), "-");
}

// D-3
TEST(DeltaFifo, MergesTwoDeletionsThatFollowEachOther) {
  detail::DeltaFifoCore queue{kAccess};
  queue.add(object("x", "1"));
  queue.erase(object("x", "2"));
  queue.erase(object("x", "3"));
  EXPECT_EQ(pop(queue), "Added x@1, Deleted x@2");

  queue.add(object("x", "1"));
  queue.erase("a/x");  // a tombstone has less information
  queue.erase(object("x", "3"));
  EXPECT_EQ(pop(queue), "Added x@1, Deleted x@3");
}

// D-4, D-5, Q-8
TEST(DeltaFifo, DropsTheDeletionOfAnUnknownObject) {
  Indexer<Item> known;
  detail::DeltaFifoCore queue{kAccess, detail::Inside::core(known)};
  queue.erase(object("x", "1"));
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_TRUE(queue.has_synced());  // another operation came first

  known.upsert(item("a", "x", "1"));
  queue.erase(object("x", "2"));
  EXPECT_EQ(pop(queue), "Deleted x@2");
  queue.erase("a/x");
  EXPECT_EQ(pop(queue), "Deleted? key a/x");
}

// D-12: objects being processed count as known, so no lock is needed meanwhile.
TEST(DeltaFifo, TreatsObjectsBeingProcessedAsKnown) {
  Indexer<Item> known;
  detail::DeltaFifoCore queue{kAccess, detail::Inside::core(known)};
  queue.add(object("x", "1"));
  (void)queue.pop([&](auto&, bool) { queue.erase(object("x", "2")); });
  EXPECT_EQ(pop(queue), "Deleted x@2");

  queue.add(object("x", "3"));
  (void)queue.pop([&](auto&, bool) {
    queue.replace({}, "4");
    queue.resync(nullptr);
  });
  EXPECT_EQ(pop(queue), "Deleted? x@3");
}

// D-6, D-7, D-8, D-13
TEST(DeltaFifo, TurnsAListIntoReplacementsAndTombstones) {
  Indexer<Item> known;
  known.upsert(item("a", "gone", "1"));
  known.upsert(item("a", "stays", "2"));
  known.upsert(item("a", "queued", "3"));
  detail::DeltaFifoCore queue{kAccess, detail::Inside::core(known)};
  queue.update(object("queued", "4"));
  queue.add(object("dead", "5"));
  queue.erase(object("dead", "6"));
  queue.erase("a/stays");

  queue.replace({object("stays", "7"), object("new", "8")}, "9");

  EXPECT_EQ(queue.list().size(), 5U);
  EXPECT_EQ(pop(queue), "Updated queued@4, Deleted? queued@4");
  EXPECT_EQ(pop(queue), "Added dead@5, Deleted dead@6");
  EXPECT_EQ(pop(queue), "Deleted? key a/stays, Replaced stays@7");
  EXPECT_EQ(pop(queue), "Replaced new@8");
  EXPECT_EQ(pop(queue), "Deleted? gone@1");
  EXPECT_EQ(pop(queue), "-");
}

// D-6, D-10: the older label.
TEST(DeltaFifo, CallsListedObjectsSyncWhenAsked) {
  detail::DeltaFifoCore queue{kAccess, nullptr, {}, DeltaType::kSync};
  queue.replace({object("x")}, "1");
  EXPECT_EQ(pop(queue), "Sync x@1");
}

// D-9, K-21, Q-6
TEST(DeltaFifo, IsSyncedWhenAllOfTheFirstListIsProcessed) {
  Indexer<Item> known;
  known.upsert(item("a", "gone", "1"));
  detail::DeltaFifoCore queue{kAccess, detail::Inside::core(known)};
  queue.replace({object("x", "1"), object("x", "2"), object("y", "3")}, "3");
  bool initial = false;
  EXPECT_EQ(pop(queue, &initial), "Replaced x@1, Replaced x@2");
  EXPECT_TRUE(initial);
  (void)pop(queue, &initial);
  EXPECT_TRUE(initial);
  EXPECT_FALSE(queue.has_synced());
  (void)queue.pop([&](auto&, bool in_initial_list) {
    EXPECT_TRUE(in_initial_list);
    EXPECT_FALSE(queue.has_synced());  // not before the last one is processed
  });
  EXPECT_TRUE(queue.has_synced());

  detail::DeltaFifoCore empty{kAccess};
  empty.replace({}, "1");
  EXPECT_TRUE(empty.has_synced());
}

// D-11
TEST(DeltaFifo, ResyncsKnownObjectsThatAreNotQueued) {
  Indexer<Item> known;
  known.upsert(item("a", "x", "1"));
  known.upsert(item("a", "y", "2"));
  detail::DeltaFifoCore queue{kAccess, detail::Inside::core(known)};
  queue.update(object("x", "3"));
  queue.resync(nullptr);
  EXPECT_EQ(pop(queue), "Updated x@3");
  EXPECT_EQ(pop(queue), "Sync y@2");
  EXPECT_EQ(pop(queue), "-");
  detail::DeltaFifoCore alone{kAccess};
  alone.resync(nullptr);
  EXPECT_EQ(alone.size(), 0U);
}

//
TEST(DeltaFifo, ReturnsRemainingDeltasAfterClosing) {
  detail::DeltaFifoCore queue{kAccess};
  queue.add(object("x"));
  queue.close();
  EXPECT_EQ(pop(queue), "Added x@1");
  EXPECT_EQ(queue.pop([](auto&, bool) {}), PopResult::kClosed);
  EXPECT_THROW(queue.add(object("")), KeyError);
}

// S-32
TEST(DoneSignal, IsWaitedForWithoutPolling) {
  const DoneSignal a{"a"};
  const DoneSignal b{"b"};
  EXPECT_TRUE(wait_for({}, {}));
  std::vector<std::string> lines;
  const Logger log{
      [&](LogLevel, std::string_view, std::string_view text) { lines.emplace_back(text); }};
  std::jthread later{[&] { a.fire(); }};
  EXPECT_TRUE(wait_for({a}, {}, "caches", log));
  EXPECT_EQ(lines, (std::vector<std::string>{"Waiting for caches", "Done waiting for caches: a"}));
  later.join();

  lines.clear();
  std::stop_source stop;
  stop.request_stop();
  const DoneSignal c{"c"};
  EXPECT_FALSE(wait_for({c, b, a}, stop.get_token(), "caches", log));
  EXPECT_EQ(lines.back(), "Timed out waiting for caches: b, c");
  EXPECT_TRUE(wait_for({a}, stop.get_token()));  // it is done already, so the stop does not matter
  EXPECT_FALSE(b.wait(stop.get_token()));
  b.fire();
  b.fire();
  EXPECT_TRUE(b.wait(stop.get_token()));
  EXPECT_TRUE(b.done());
}

// D-2, D-4: the typed queues, for loops written by the user.
TEST(DeltaFifo, ReturnsTypedDeltasAndKeepsItsStore) {
  std::optional<Indexer<Item>> store{std::in_place};
  store->upsert(item("a", "gone", "1"));
  DeltaFifo<Item> queue{*store};
  store.reset();

  queue.replace({item("a", "x", "2")}, "2");
  std::vector<std::string> seen;
  const auto process = [&](const std::vector<Delta<Item>>& deltas, bool initial) {
    for (const Delta<Item>& delta : deltas) {
      seen.push_back(fmt::format("{} {} {} {}", to_string(delta.type), delta.key,
                                 delta.object->metadata.resource_version.view(),
                                 delta.tombstone ? "missed"
                                 : initial       ? "initial"
                                                 : "new"));
    }
  };
  while (queue.pop(process, false) == PopResult::kProcessed) {
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"Replaced a/x 2 initial", "Deleted a/gone 1 missed"}));
  EXPECT_TRUE(queue.has_synced());
}

TEST(InOrderQueue, ReturnsAListAsOneTypedDelta) {
  InOrderQueue<Item> queue;
  queue.replace({item("a", "x", "1"), item("a", "y", "2")}, "2");
  std::vector<Delta<Item>> seen;
  EXPECT_EQ(queue.pop([&](const std::vector<Delta<Item>>& deltas, bool) { seen = deltas; }),
            PopResult::kProcessed);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.front().type, DeltaType::kReplacedAll);
  EXPECT_EQ(seen.front().resource_version, "2");
  ASSERT_EQ(seen.front().objects.size(), 2U);
  EXPECT_EQ(seen.front().objects[1]->metadata.name, "y");
}

}  // namespace
}  // namespace kube
