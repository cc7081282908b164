// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/informer.hpp>
#include <kube/cache/shared_informer.hpp>

#include "shared_informer_fixture.hpp"
#include "support/failing_threads.hpp"
#include "support/fake_list_watch.hpp"
#include "support/items.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// Failures of user code, which may throw anything anywhere, and of the system.
namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::FakeListWatch;
using testing_support::Item;
using testing_support::item;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::show;
using testing_support::status;
using testing_support::ThreadFault;
using Strings = std::vector<std::string>;

constexpr std::string_view kForeign = "an exception that is not a std::exception was thrown";

/// An informer whose user code fails, with the system clock and very short pauses.
class InformerWithFailures : public SharedInformerTest {
 protected:
  InformerWithFailures() {
    options.clock = &system_clock();
    options.backoff.initial = 1ms;
    options.backoff.cap = 5ms;
    options.on_error = [this](const CacheError& error) {
      const std::lock_guard guard{mutex};
      if (error.place == CacheError::Place::kProcessing) errors.push_back(error.message);
    };
  }
  ~InformerWithFailures() override { stop(); }

  Strings seen_errors() {
    const std::lock_guard guard{mutex};
    return errors;
  }
  /// Waits until the cache equals the server.
  ::testing::AssertionResult converges() {
    const std::string truth = show(server->objects());
    if (eventually([&] { return show(informer->indexer().list()) == truth; })) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << show(informer->indexer().list()) << " instead of "
                                         << truth << ": " << informer->last_error();
  }

  std::mutex mutex;
  Strings errors;  // guarded by mutex
};

// C-13, K-12, I-14, I-31: if an index function throws anything, only its object is missing in that
// index; all other objects are unaffected.
TEST_F(InformerWithFailures, KeepsAllObjectsWhenAnIndexFunctionThrows) {
  Strings index_errors;
  options.indexers = {{"odd", [](const Item& object) -> Strings {
                         if (object.metadata.name == "bad") throw 42;  // NOLINT: anything
                         return {"value"};
                       }}};
  options.on_error = [&](const CacheError& error) {
    const std::lock_guard guard{mutex};
    index_errors.push_back(error.name + ' ' + error.key + ": " + error.message);
    throw 43;  // NOLINT: anything
  };
  server->put("n", "bad");
  server->put("n", "good");
  make();
  Recorder recorder;
  informer->add_event_handler(recorder.handler());

  start_and_sync();
  server->put("n", "bad");
  server->put("n", "other");

  EXPECT_TRUE(converges());
  EXPECT_TRUE(recorder.wait_until_believes(show(server->objects())));
  EXPECT_EQ(show(informer->indexer().by_index("odd", "value")), "n/good@2 n/other@4");
  EXPECT_EQ(recorder.contradiction(), "");
  stop();
  EXPECT_EQ(index_errors, (Strings(2, "odd n/bad: " + std::string{kForeign})));
}

// K-1, P-3: an exception of one handler's callback does not affect other handlers.
TEST_F(InformerWithFailures, NotifiesAllHandlersWhenOnHighWaterThrows) {
  make();
  Recorder first;
  Recorder second;
  std::atomic<bool> inside = false;
  std::atomic<bool> go = false;
  const HandlerRegistration slow = informer->add_event_handler(
      {.on_add =
           [&](const Item&) {
             inside = true;
             while (!go) std::this_thread::yield();
           }},
      {.name = "slow", .high_water = 1, .on_high_water = [](std::size_t) { throw 42; }});  // NOLINT
  informer->add_event_handler(first.handler());
  informer->add_event_handler(second.handler());
  start_and_sync();

  server->put("n", "a");
  EXPECT_TRUE(eventually([&] { return inside.load(); }));
  for (const char* name : {"b", "c", "d", "e"}) server->put("n", name);

  const std::string truth = show(server->objects());
  EXPECT_TRUE(first.wait_until_believes(truth)) << first.believes();
  EXPECT_TRUE(second.wait_until_believes(truth)) << second.believes();
  EXPECT_EQ(slow.failures(), 1U);
  EXPECT_EQ(slow.last_failure(), kForeign);
  go = true;
  stop();
}

// S-29, K-5: an exception of a transform is reported, and the rejected object is listed again.
TEST_F(InformerWithFailures, ListsAgainWhenATransformThrowsANonException) {
  std::atomic<int> failures = 3;
  options.transform = [&](Item& object) {
    if (object.metadata.name == "bad" && failures-- > 0) throw 42;  // NOLINT: anything
  };
  options.on_error = [this](const CacheError& error) {
    const std::lock_guard guard{mutex};
    EXPECT_EQ(error.place, CacheError::Place::kListWatch);
    EXPECT_EQ(error.name, "PartialObjectMetadata");
    errors.push_back(error.message);
  };
  server->put("n", "bad");
  server->put("n", "good");

  start_and_sync();
  EXPECT_EQ(seen_errors(), Strings(3, "unable to sync list result: transforming: n/bad: " +
                                          std::string{kForeign}));

  failures = 1;
  server->put("n", "bad");
  EXPECT_TRUE(converges());
}

// the same holds for a source that throws anything.
TEST_F(InformerWithFailures, RetriesWhenTheSourceThrowsANonException) {
  const testing_support::Failure foreign = [] { throw 42; };  // NOLINT: anything
  options.on_error = [this](const CacheError& error) {
    {
      const std::lock_guard guard{mutex};
      errors.push_back(error.message);
    }
    throw 44;  // NOLINT: anything
  };
  options.on_state = [](const ReflectorEvent&) { throw 45; };  // NOLINT: anything
  server->put("n", "a");
  server->script_lists({foreign});
  server->script_watches({foreign});

  start_and_sync();
  EXPECT_EQ(seen_errors(),
            (Strings{"failed to list PartialObjectMetadata: list: " + std::string{kForeign},
                     "watch: " + std::string{kForeign}}));

  server->put("n", "b", {}, true);
  server->break_watches(foreign);
  EXPECT_TRUE(converges());
}

// S-6: a callback of the synced signal may throw, too.
TEST_F(InformerWithFailures, SyncsWhenACallbackOfItsSignalThrows) {
  server->put("n", "a");
  make();
  Recorder recorder;
  const HandlerRegistration registration = informer->add_event_handler(recorder.handler());
  (void)informer->synced().on_done([] { throw 42; });     // NOLINT: anything
  (void)registration.synced().on_done([] { throw 42; });  // NOLINT: anything

  start_and_sync();
  EXPECT_TRUE(wait(registration.synced()));
  server->put("n", "b");
  EXPECT_TRUE(recorder.wait_until_believes(show(server->objects())));
}

// C-5, C-12: a handler of the simple informer that throws anything.
TEST(InformerWithOneHandler, ContinuesWhenItsHandlerThrowsANonException) {
  const auto server = std::make_shared<FakeListWatch>();
  server->put("n", "a");
  server->put("n", "b");
  std::atomic<int> calls = 0;
  std::atomic<int> reported = 0;
  InformerOptions<Item> options;
  options.on_error = [&](const CacheError& error) {
    EXPECT_EQ(error.message, kForeign);
    ++reported;
    throw 43;  // NOLINT: anything
  };
  Informer<Item> informer{server,
                          {.on_add =
                               [&](const Item&) {
                                 ++calls;
                                 throw 42;  // NOLINT: anything
                               }},
                          options};
  {
    std::jthread run{[&](std::stop_token stop) { informer.run(std::move(stop)); }};
    EXPECT_TRUE(server->wait_for_watches(1));
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (reported < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_EQ(informer.store().size(), 2U);
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(reported, 2);
}

// S-1, C-1, RT-5: failures to create threads are reported and retried: the loop's, without which
// nothing starts, the source's, and those of workers.
TEST_F(InformerWithFailures, StartsWhenThreadsCanBeCreatedAgain) {
  server->put("n", "a");
  make();
  Recorder recorder;
  const HandlerRegistration one = informer->add_event_handler(recorder.handler(), {.name = "one"});
  const HandlerRegistration two = informer->add_event_handler({}, {.name = "two"});
  std::stop_source stop;
  std::atomic<bool> go = false;
  std::jthread run{[&] {
    while (!go) std::this_thread::yield();
    informer->run(stop.get_token());
  }};
  {
    const ThreadFault fault{4};
    go = true;
    EXPECT_TRUE(eventually([&] { return fault.left() == 0; }));
  }

  EXPECT_TRUE(eventually([&] { return one.has_synced() && two.has_synced(); }));
  EXPECT_TRUE(recorder.wait_until_believes("n/a@1"));
  EXPECT_TRUE(eventually([&] { return informer->last_error().empty(); }));
  EXPECT_EQ(seen_errors(),
            Strings(4,
                    "the thread of the event loop could not be created: Resource temporarily "
                    "unavailable"));
  stop.request_stop();
}

// S-3: a stop ends the wait for a thread.
TEST_F(InformerWithFailures, StopsWhileNoThreadCanBeCreated) {
  make();
  Recorder recorder;
  informer->add_event_handler(recorder.handler());
  std::stop_source stop;
  std::atomic<bool> go = false;
  std::jthread run{[&] {
    while (!go) std::this_thread::yield();
    informer->run(stop.get_token());
  }};
  const ThreadFault fault{1'000'000};
  go = true;
  EXPECT_TRUE(
      eventually([&] { return !informer->last_error().empty() && !seen_errors().empty(); }));
  EXPECT_NE(informer->last_error().find("could not be created"), std::string::npos);
  stop.request_stop();
  run.join();
  EXPECT_TRUE(informer->is_stopped());
  EXPECT_FALSE(informer->has_synced());
}

// S-13, P-1: a late handler needs no thread of its own.
TEST_F(InformerWithFailures, TakesALateHandlerWhileNoThreadCanBeCreated) {
  server->put("n", "a");
  start_and_sync();
  Recorder late;
  {
    const ThreadFault fault{1'000'000};
    informer->add_event_handler(late.handler());
    server->put("n", "b");
    EXPECT_TRUE(late.wait_until_believes("n/a@1 n/b@2"));
  }
}

}  // namespace
}  // namespace kube
