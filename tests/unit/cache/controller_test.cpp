// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/controller.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/fake_list_watch.hpp"
#include "support/items.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <type_traits>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::FakeListWatch;
using testing_support::Item;
using testing_support::item;
using testing_support::Recorder;
using testing_support::show;
using testing_support::thread_count;
using testing_support::threads_return_to;
using Strings = std::vector<std::string>;

// K-11, P-16: cached objects cannot be changed.
static_assert(std::is_same_v<decltype(*std::declval<const Ref<Item>&>()), const Item&>);
static_assert(
    !std::is_assignable_v<decltype((std::declval<const Ref<Item>&>()->metadata.name)), String>);

using Progress = detail::CacheControllerHooks::Progress;

std::shared_ptr<detail::AnyListWatch> erased(const std::shared_ptr<FakeListWatch>& server) {
  return std::make_shared<detail::ErasedListWatch<Item>>(server);
}

template <typename Condition>
bool wait_until(const Condition& condition) {
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (!condition() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  return condition();
}

// C-1, C-3, C-4, C-5, C-6, C-13, K-3: errors are counted and reported, the loop continues, and a
// new list delivers the lost objects.
TEST(Controller, ReportsProcessingErrorsAndListsAgain) {
  const std::size_t threads_before = thread_count();
  const auto server = std::make_shared<FakeListWatch>();
  server->put("a", "x");
  const auto metrics = std::make_shared<Metrics>();
  ReflectorOptions options;
  options.backoff.initial = 1ms;
  options.metrics = InformerMetrics::in(metrics, {});
  const Counter counted = options.metrics->processing_errors;
  std::mutex mutex;
  Strings log;
  const auto note = [&](std::string text) {
    const std::lock_guard guard{mutex};
    log.push_back(std::move(text));
  };
  std::atomic<int> taken = 0;
  detail::CacheController controller{
      detail::kObjectAccess<Item>,
      erased(server),
      std::make_shared<detail::InOrderQueueCore>(detail::kObjectAccess<Item>, nullptr,
                                                 DeltaQueueOptions{.batch_size = 1}),
      {.process =
           [&](std::vector<detail::AnyDelta>& deltas, bool) {
             note(std::string{to_string(deltas.front().type)});
             ++taken;
             if (taken == 2) throw std::runtime_error("no");
             if (taken == 4) throw 7;  // NOLINT: anything may be thrown
             return Progress::kDone;
           },
       .on_error =
           [&](const std::exception& error) {
             note(error.what());
             throw std::runtime_error("in the error handler, too");
           }},
      options};
  EXPECT_EQ(controller.last_sync_resource_version(), "");
  EXPECT_FALSE(controller.has_synced());
  {
    std::jthread run{[&](std::stop_token stop) { controller.run(std::move(stop)); }};
    ASSERT_TRUE(server->wait_for_watches(1));
    EXPECT_TRUE(wait_until([&] { return controller.has_synced(); }));
    server->put("a", "y");
    EXPECT_TRUE(wait_until([&] { return taken == 3; }));
    ASSERT_TRUE(server->wait_for_requests(4));
    ASSERT_TRUE(server->wait_for_watches(1));
    server->put("a", "z");
    EXPECT_TRUE(wait_until([&] { return taken == 5; }));
    EXPECT_TRUE(wait_until([&] { return controller.last_error().empty(); }));
  }
  EXPECT_TRUE(threads_return_to(threads_before));
  EXPECT_EQ(controller.last_sync_resource_version(), "3");
  EXPECT_EQ(log, (Strings{"ReplacedAll", "Added", "no", "ReplacedAll", "Added",
                          "an exception that is not a std::exception was thrown", "ReplacedAll"}));
  EXPECT_EQ(counted.value(), 2U);
  controller.run({});  // a second run returns immediately
}

// C-13: deltas that are retried until they are processed are neither lost nor overtaken, the first
// list included.
TEST(Controller, RetriesDeltasWhereProcessingCan) {
  const auto server = std::make_shared<FakeListWatch>();
  server->put("a", "x");
  std::mutex mutex;
  Strings log;
  std::atomic<int> taken = 0;
  const auto queue = std::make_shared<detail::InOrderQueueCore>(
      detail::kObjectAccess<Item>, nullptr, DeltaQueueOptions{.batch_size = 1});
  detail::CacheController controller{
      detail::kObjectAccess<Item>,
      erased(server),
      queue,
      {.process =
           [&](std::vector<detail::AnyDelta>& deltas, bool initial) {
             {
               const std::lock_guard guard{mutex};
               log.push_back(std::string{to_string(deltas.front().type)} + ' ' +
                             deltas.front().version + (initial ? "*" : ""));
             }
             // Each delta fails once.
             if (++taken % 2 == 1) throw std::bad_alloc{};
             return Progress::kDone;
           },
       .retries = true},
      {}};
  {
    std::jthread run{[&](std::stop_token stop) { controller.run(std::move(stop)); }};
    EXPECT_TRUE(wait_until([&] { return controller.has_synced(); }));
    ASSERT_TRUE(server->wait_for_watches(1));
    server->put("a", "y");
    EXPECT_TRUE(wait_until([&] { return taken == 4 && controller.last_error().empty(); }));
  }
  EXPECT_EQ(log, (Strings{"ReplacedAll 1*", "ReplacedAll 1*", "Added ", "Added "}));
  EXPECT_EQ(server->requests().size(), 2U);
}

// C-2: queued deltas are dropped on a stop.
TEST(Controller, DropsQueuedDeltasOnStop) {
  const auto server = std::make_shared<FakeListWatch>();
  const auto queue = std::make_shared<detail::InOrderQueueCore>(
      detail::kObjectAccess<Item>, nullptr, DeltaQueueOptions{.batch_size = 1});
  std::stop_source stop;
  int taken = 0;
  detail::CacheController controller{
      detail::kObjectAccess<Item>,
      erased(server),
      queue,
      {.process =
           [&](std::vector<detail::AnyDelta>&, bool) {
             ++taken;
             queue->add(detail::ObjectRef::from(item("a", "x", "1")));
             stop.request_stop();
             return Progress::kDone;
           }},
      {}};
  controller.run(stop.get_token());
  EXPECT_EQ(taken, 1);
  EXPECT_GE(controller.queued(), 1U);
}

// F-15, D-12: no lock is held while deltas are processed.
TEST(Controller, AcceptsDeltasWhileProcessing) {
  detail::InOrderQueueCore in_order{detail::kObjectAccess<Item>};
  detail::DeltaFifoCore classic{detail::kObjectAccess<Item>};
  for (detail::DeltaQueueCore* queue : {static_cast<detail::DeltaQueueCore*>(&in_order),
                                        static_cast<detail::DeltaQueueCore*>(&classic)}) {
    queue->add(detail::ObjectRef::from(item("a", "x", "1")));
    (void)queue->pop([&](std::vector<detail::AnyDelta>&, bool) {
      std::async(std::launch::async, [&] {
        queue->add(detail::ObjectRef::from(item("a", "y", "2")));
      }).get();
    });
    EXPECT_EQ(queue->size(), 1U);
  }
}

// R-31, W-17, M-9
TEST(Controller, LogsSlowLists) {
  for (const bool watch_list : {false, true}) {
    testkit::FakeClock clock;
    std::mutex mutex;
    Strings lines;
    ReflectorOptions options;
    options.clock = &clock;
    options.log = Logger{[&](LogLevel level, std::string_view, std::string_view text) {
      const std::lock_guard guard{mutex};
      if (level == LogLevel::kInfo) lines.emplace_back(text);
    }};
    std::promise<void> stored;
    options.on_state = [&](const ReflectorEvent& event) {
      if (event.kind == ReflectorEvent::Kind::kStreamingState) clock.advance(11s);
      if (event.kind == ReflectorEvent::Kind::kListed ||
          event.kind == ReflectorEvent::Kind::kStateStreamed) {
        stored.set_value();
      }
    };
    const auto server = std::make_shared<FakeListWatch>();
    server->set_watch_list(watch_list);
    Indexer<Item> store;
    Reflector<Item> reflector{server, store, options};
    server->on_list([&] { clock.advance(11s); });
    std::jthread run{[&](std::stop_token stop) { reflector.run(std::move(stop)); }};
    ASSERT_EQ(stored.get_future().wait_for(10s), std::future_status::ready);
    const std::lock_guard guard{mutex};
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("slow"), std::string::npos) << lines[0];
  }
}

// P-10, M-8
TEST(Controller, LogsSlowHandlers) {
  testkit::FakeClock clock;
  std::mutex mutex;
  Strings lines;
  const auto server = std::make_shared<FakeListWatch>();
  for (int i = 0; i < 1'200; ++i) server->put("a", fmt::format("x{}", i));
  InformerOptions<Item> options;
  options.clock = &clock;
  options.log = Logger{[&](LogLevel level, std::string_view component, std::string_view text) {
    const std::lock_guard guard{mutex};
    if (level == LogLevel::kInfo) lines.push_back(fmt::format("{}: {}", component, text));
  }};
  SharedIndexInformer<Item> informer{server, options};
  std::atomic<int> calls = 0;
  const auto registration = informer.add_event_handler({.on_add =
                                                            [&](const Item&) {
                                                              if (calls++ == 0)
                                                                clock.advance(101ms);
                                                            }},
                                                       {.name = "sloth"});
  std::jthread run{[&](std::stop_token stop) { informer.run(std::move(stop)); }};
  ASSERT_TRUE(registration.synced().wait({}));
  const std::lock_guard guard{mutex};
  ASSERT_GE(lines.size(), 1U);
  EXPECT_EQ(lines[0].find(
                "informer: SharedIndexInformer PartialObjectMetadata + event handler sloth: slow"),
            0U)
      << lines[0];
}

// L-1, L-15, K-35: the fake server that the other tests use.
TEST(FakeListWatch, BehavesLikeAServer) {
  FakeListWatch server;
  server.put("a", "x");
  server.put("a", "x");
  server.put("a", "silent", {}, true);
  std::vector<Ref<Item>> items;
  const auto collect = [&](Ref<Item> object) { items.push_back(std::move(object)); };
  EXPECT_EQ(server.list({}, collect, {}).resource_version, "3");
  EXPECT_EQ(show(items), "a/silent@3 a/x@2");

  const auto stream = server.watch({.resource_version = "1"}, {});
  auto event = stream->next({});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, EventType::kModified);
  server.remove("a", "x");
  event = stream->next({});
  EXPECT_EQ(event->type, EventType::kDeleted);
  EXPECT_EQ(event->object->metadata.resource_version, "4");
  server.bookmark();
  EXPECT_EQ(stream->next({})->type, EventType::kBookmark);
  server.put("a", "y");
  server.end_watches();
  EXPECT_EQ(stream->next({})->type, EventType::kAdded);  // events sent before the end still arrive
  EXPECT_FALSE(stream->next({}));
  EXPECT_EQ(server.open_watches(), 1U);  // ended, but not yet released by its reader

  server.forget_history();
  const auto expired = server.watch({.resource_version = "1"}, {});
  event = expired->next({});
  EXPECT_EQ(event->type, EventType::kError);
  EXPECT_EQ(event->status->code, 410);
  EXPECT_THROW((void)server.watch({.resource_version = "99"}, {}), ApiError);
  server.script_lists({api_error(500, "InternalError")});
  EXPECT_THROW((void)server.list({}, collect, {}), ApiError);
}

// C-1: a loop written by the user over every delta.
TEST(Controller, HandsTypedDeltasToAFunction) {
  const auto server = std::make_shared<FakeListWatch>();
  server->put("a", "x");
  std::mutex mutex;
  Strings seen;
  Controller<Item> controller{
      server, InOrderQueue<Item>{}, [&](const std::vector<Delta<Item>>& deltas, bool initial) {
        const std::lock_guard guard{mutex};
        for (const Delta<Item>& delta : deltas) {
          seen.push_back(fmt::format("{} {} of {}{}", to_string(delta.type), delta.key,
                                     delta.objects.size(), initial ? ", initial" : ""));
        }
      }};
  std::jthread runner{[&](std::stop_token stop) { controller.run(std::move(stop)); }};
  ASSERT_TRUE(wait_until([&] { return controller.has_synced(); }));
  const std::lock_guard guard{mutex};
  EXPECT_EQ(seen, (Strings{"ReplacedAll  of 1, initial"}));
  EXPECT_EQ(controller.last_error(), "");
}

}  // namespace
}  // namespace kube
