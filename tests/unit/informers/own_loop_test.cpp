// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <poll.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "factory_support.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::ConfigMap;
using testing_support::kPatience;
using testing_support::thread_count;

/// A client whose Runtime has no thread.
class OwnLoopTest : public testing_support::FactoryTest {
 protected:
  [[nodiscard]] Client make_client() {
    return Client{server.config(), {.log = Logger{}, .runtime = runtime}};
  }
  /// Runs the loop like an event loop of the program.
  [[nodiscard]] bool run_until(const std::function<bool()>& done) const {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    pollfd readable{.fd = runtime->loop().descriptor(), .events = POLLIN, .revents = 0};
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      ::poll(&readable, 1, 100);
      runtime->loop().run_ready();
    }
    return true;
  }

  std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
};

// RT-6, OL-1: an informer, its handlers and its shutdown need only the program's thread.
TEST_F(OwnLoopTest, InformersAndHandlersRunOnTheProgramsThread) {
  server.create(config_map(space, "one"));
  const std::size_t before = thread_count();
  const std::thread::id mine = std::this_thread::get_id();
  std::vector<std::string> seen;
  bool elsewhere = false;
  {
    SharedInformerFactory factory{make_client(), {.namespace_ = space}};
    auto informer = factory.informer<ConfigMap>();
    for (const Delivery delivery : {Delivery::kQueued, Delivery::kInline}) {
      informer.add_event_handler({.on_add =
                                      [&](const ConfigMap& map) {
                                        seen.emplace_back(map.metadata.name.view());
                                        if (std::this_thread::get_id() != mine) elsewhere = true;
                                      }},
                                 {.delivery = delivery});
    }
    factory.start();
    ASSERT_TRUE(run_until([&] { return seen.size() == 2; }));
    server.create(config_map(space, "two"));
    ASSERT_TRUE(run_until([&] { return seen.size() == 4; }));
    EXPECT_EQ(names(factory.lister<ConfigMap>().list()), "one two");
    EXPECT_LE(thread_count(), before);
  }
  EXPECT_FALSE(elsewhere);
}

// RT-6: a blocking call runs the loop meanwhile, if no other thread does.
TEST_F(OwnLoopTest, CallsThatWaitRunTheLoop) {
  server.create(config_map(space, "one"));
  const std::size_t before = thread_count();
  const Client own = make_client();
  EXPECT_EQ(own.resource<ConfigMap>(space).get("one")->metadata.name.view(), "one");
  SharedInformerFactory factory{own, {.namespace_ = space}};
  const auto lister = factory.lister<ConfigMap>();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  EXPECT_EQ(names(lister.list()), "one");
  factory.shutdown();
  EXPECT_LE(thread_count(), before);
}

// RT-6: a wait without a response ends with its timeout, and with its stop.
TEST_F(OwnLoopTest, AWaitForASyncEndsInTime) {
  Config nobody = server.config();
  nobody.host = "http://127.0.0.1:1";
  nobody.tls = {};
  const Client own{nobody, {.log = Logger{}, .runtime = runtime}};
  SharedInformerFactory factory{own, {.log = Logger{}}};
  static_cast<void>(factory.informer<ConfigMap>());
  factory.start();
  EXPECT_EQ(factory.wait_for_cache_sync({}, 20ms).cause, "timed out");
  std::stop_source stop;
  runtime->loop().post([&] { stop.request_stop(); });
  EXPECT_EQ(factory.wait_for_cache_sync(stop.get_token()).cause, "stopped");
}

// RT-6, RT-10: on the loop itself, a blocking call throws and names the alternative.
TEST_F(OwnLoopTest, ABlockingCallInAHandlerIsRefused) {
  server.create(config_map(space, "one"));
  const Client own = make_client();
  SharedInformerFactory factory{own, {.namespace_ = space}};
  std::string error;
  factory.informer<ConfigMap>().add_event_handler({.on_add = [&](const ConfigMap&) {
    try {
      (void)own.resource<ConfigMap>(space).get("one");
      error = "none";
    } catch (const std::logic_error& thrown) {
      error = thrown.what();
    }
  }});
  factory.start();
  ASSERT_TRUE(run_until([&] { return !error.empty(); }));
  EXPECT_NE(error.find("GET /api/v1/namespaces/" + space +
                       "/configmaps/one was called where "
                       "nothing may wait"),
            std::string::npos)
      << error;
}

// RT-6: if another thread runs the loop, a call blocks as usual.
TEST_F(OwnLoopTest, WaitsAsUsualIfAnotherThreadRunsTheLoop) {
  server.create(config_map(space, "one"));
  const Client own = make_client();
  std::jthread runner{[this](const std::stop_token& stop) { runtime->loop().run(stop); }};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(own.resource<ConfigMap>(space).get("one")->metadata.name.view(), "one");
  }
}

// RT-12: a factory destroyed by a task of the loop ends later, on that loop.
TEST_F(OwnLoopTest, AFactoryMayBeDestroyedByATask) {
  server.create(config_map(space, "one"));
  auto factory =
      std::make_unique<SharedInformerFactory>(make_client(), FactoryOptions{.namespace_ = space});
  const DoneSignal synced = factory->informer<ConfigMap>().synced();
  factory->start();
  ASSERT_TRUE(run_until([&] { return synced.done(); }));
  const std::weak_ptr<Runtime> alive = runtime;
  runtime->loop().post([&] { factory.reset(); });
  ASSERT_TRUE(run_until([&] { return factory == nullptr && runtime.use_count() == 1; }));
}

using InlineHandlerTest = testing_support::FactoryTest;

// IE-2: with threads, the loop itself calls an inline handler for a single event.
TEST_F(InlineHandlerTest, IsCalledByTheLoop) {
  const auto shared = std::make_shared<Runtime>();
  Client own{server.config(), {.log = Logger{}, .runtime = shared}};
  std::thread::id loop_thread;
  shared->loop().post([&] { loop_thread = std::this_thread::get_id(); });
  SharedInformerFactory factory{own, {.namespace_ = space}};
  std::atomic<int> added = 0;
  std::atomic<int> by_loop = 0;
  factory.informer<ConfigMap>().add_event_handler(
      {.on_add =
           [&](const ConfigMap&) {
             if (std::this_thread::get_id() == loop_thread) {
               ++by_loop;
             }
             ++added;
           }},
      {.delivery = Delivery::kInline});
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  for (int i = 0; by_loop == 0 && std::chrono::steady_clock::now() < limit; ++i) {
    server.create(config_map(space, "map-" + std::to_string(i)));
    while (added <= i && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  }
  EXPECT_GT(by_loop, 0);
}

// RT-8: handlers may make blocking calls, even if there are no more workers than handlers.
TEST_F(InlineHandlerTest, QueuedHandlersMayWaitForTheServer) {
  server.create(config_map(space, "one"));
  const auto shared = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .max_threads = 1});
  Client own{server.config(), {.log = Logger{}, .runtime = shared}};
  SharedInformerFactory factory{own, {.namespace_ = space}};
  std::atomic<int> got = 0;
  for (int i = 0; i < 3; ++i) {
    factory.informer<ConfigMap>().add_event_handler({.on_add = [&](const ConfigMap& map) {
      if (own.resource<ConfigMap>(space).get(map.metadata.name)) ++got;
    }});
  }
  factory.start();
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (got < 3 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(got, 3);
}

// IE-1: inline handlers get the same events as others, in the same order, one call at a time.
TEST_F(InlineHandlerTest, GetsTheSameEventsAsOthers) {
  Client own{server.config(), {.log = Logger{}}};
  SharedInformerFactory factory{own, {.namespace_ = space}};
  struct Told {
    std::mutex mutex;
    std::vector<std::string> names;
    std::atomic<int> inside = 0;
    std::atomic<bool> overlapped = false;
  };
  Told queued;
  Told inlined;
  for (Told* told : {&queued, &inlined}) {
    factory.informer<ConfigMap>().add_event_handler(
        {.on_add =
             [told](const ConfigMap& map) {
               if (told->inside++ > 0) told->overlapped = true;
               {
                 const std::lock_guard guard{told->mutex};
                 told->names.emplace_back(map.metadata.name.view());
               }
               --told->inside;
             }},
        {.delivery = told == &inlined ? Delivery::kInline : Delivery::kQueued});
  }
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  for (int i = 0; i < 50; ++i) server.create(config_map(space, "map-" + std::to_string(i)));
  const auto count = [](Told& told) {
    const std::lock_guard guard{told.mutex};
    return told.names.size();
  };
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while ((count(queued) < 50 || count(inlined) < 50) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  factory.shutdown();
  EXPECT_EQ(queued.names.size(), 50U);
  EXPECT_EQ(inlined.names, queued.names);
  EXPECT_FALSE(inlined.overlapped);
}

}  // namespace
}  // namespace kube
