// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/reflector.hpp>

#include "blocking_source.hpp"
#include "reflector_fixture.hpp"
#include "run_reflector.hpp"
#include "store_target.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::Failure;
using testing_support::Item;
using testing_support::item;
using testing_support::lost;
using testing_support::ReflectorTest;
using testing_support::show;
using testing_support::status;
using What = ReflectorEvent::Kind;
using Strings = std::vector<std::string>;

//
TEST_F(ReflectorTest, ListsThenWatchesFromThere) {
  server->put("a", "x");
  server->put("a", "y");
  EXPECT_EQ(Reflector<Item>(server, store, options).last_sync_resource_version(), "");
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(show(store.list()), "a/x@1 a/y@2");
  EXPECT_EQ(reflector->last_sync_resource_version(), "2");
  EXPECT_EQ(store.resource_version(), "2");
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=500", "watch rv=2 bookmarks"}));
  EXPECT_EQ(server->timeouts(), (std::vector<std::int64_t>{450}));  // 300 * (1 + 0.5)

  server->put("a", "z");
  server->put("a", "x");
  server->remove("a", "y");
  EXPECT_TRUE(shows("a/x@4 a/z@3"));
  EXPECT_EQ(reflector->last_sync_resource_version(), "5");
  EXPECT_EQ(store.resource_version(), "5");
}

//
TEST_F(ReflectorTest, HonoursOnlyALongerWatchTimeout) {
  options.min_watch_timeout = 10s;
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->timeouts().at(0), 450);
  stop();
  options.min_watch_timeout = 600s;
  options.random = [] { return 0.999; };
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->timeouts().at(1), 1199);
}

//
TEST_F(ReflectorTest, ResumesAtTheVersionOfABookmark) {
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->jump_version(40);
  server->bookmark();
  ASSERT_TRUE(server->wait_until_read());
  EXPECT_EQ(reflector->last_sync_resource_version(), "40");
  EXPECT_EQ(store.resource_version(), "40");
  server->end_watches();
  ASSERT_TRUE(server->wait_for_requests(3));
  EXPECT_EQ(server->requests().at(2), "watch rv=40 bookmarks");  // immediately: no list, no pause
  EXPECT_TRUE(seen_errors().empty());
  EXPECT_EQ(count(What::kWatchClosed), 1U);
}

// L-7
TEST_F(ReflectorTest, StopsWhileWatchingAndEndsTheStream) {
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  stop();
  EXPECT_EQ(server->open_watches(), 0U);
  EXPECT_TRUE(seen_errors().empty());
}

//
TEST_F(ReflectorTest, OpensTheWatchAgainWhenRefusedOrThrottled) {
  server->script_watches({lost(TransportError::Kind::kConnect), api_error(429, "TooManyRequests")});
  start();
  pass(800ms);
  pass(1600ms);
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=500", "watch rv=0 bookmarks",
                                         "watch rv=0 bookmarks", "watch rv=0 bookmarks"}));
  EXPECT_TRUE(seen_errors().empty());
}

// any other error of the request causes a new list.
TEST_F(ReflectorTest, ListsAgainWhenAWatchCannotBeOpened) {
  server->script_watches({api_error(403, "Forbidden")});
  start();
  pass(800ms);
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->requests().size(), 4U);
  EXPECT_EQ(seen_errors().size(), 1U);
}

// L-12
TEST_F(ReflectorTest, TreatsAVeryShortWatchAsAFailure) {
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->end_watches();
  ASSERT_TRUE(wait_for(What::kVeryShortWatch));
  EXPECT_EQ(
      last(What::kVeryShortWatch).message,
      "very short watch: PartialObjectMetadata: Unexpected watch close - watch lasted less than a "
      "second and no items received");
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(server->requests().at(2), "list rv=0 limit=500");
  EXPECT_TRUE(seen_errors().empty());
  ASSERT_TRUE(server->wait_for_watches(1));

  server->bookmark();  // counts as an event
  server->end_watches();
  ASSERT_TRUE(server->wait_for_requests(5));
  EXPECT_EQ(count(What::kVeryShortWatch), 1U);

  ASSERT_TRUE(server->wait_for_watches(1));
  server->script_watches({lost(TransportError::Kind::kConnectionLost)});
  clock.advance(5s);
  server->end_watches();  // long enough; but the next one fails immediately, because it was empty
  ASSERT_TRUE(wait_for(What::kVeryShortWatch, 2));
}

// L-13: one back-off for all.
TEST_F(ReflectorTest, DistinguishesErrorsOfTheStream) {
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->end_watches(status(429, "TooManyRequests"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(3));
  EXPECT_EQ(server->requests().at(2), "watch rv=0 bookmarks");  // no list

  ASSERT_TRUE(server->wait_for_watches(1));
  server->emit({EventType::kError, {}, {}});
  pass(1600ms);
  ASSERT_TRUE(server->wait_for_requests(5));
  EXPECT_EQ(server->requests().at(3), "list rv=0 limit=500");
  EXPECT_EQ(last(What::kWatchFailed).message, "unexpected object in an ERROR event");

  ASSERT_TRUE(server->wait_for_watches(1));
  server->break_watches([] { throw Error("cannot decode"); });
  pass(3200ms);
  ASSERT_TRUE(server->wait_for_requests(7));
  EXPECT_EQ(last(What::kWatchFailed).message, "cannot decode");

  ASSERT_TRUE(server->wait_for_watches(1));
  clock.advance(2s);
  // L-10: the usual end of a watch
  server->break_watches(lost(TransportError::Kind::kConnectionLost));
  ASSERT_TRUE(server->wait_for_requests(8));
  EXPECT_EQ(server->requests().at(7), "watch rv=0 bookmarks");
  EXPECT_TRUE(seen_errors().empty());
}

//
TEST_F(ReflectorTest, RetriesInternalErrorsWhileTheBudgetLasts) {
  options.max_internal_error_retry = 10s;
  start();
  const auto fail = [&] {
    ASSERT_TRUE(server->wait_for_watches(1));
    server->end_watches(status(500, "InternalError"));
  };
  fail();  // starts the period
  ASSERT_TRUE(server->wait_for_requests(3));
  clock.advance(10s);
  fail();  // within it
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(server->requests().at(3), "watch rv=0 bookmarks");
  clock.advance(1s);
  fail();  // the budget is used up
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(6));
  EXPECT_EQ(server->requests().at(4), "list rv=0 limit=500");
  clock.advance(2min);
  fail();  // a new period
  ASSERT_TRUE(server->wait_for_requests(7));
  EXPECT_EQ(server->requests().at(6), "watch rv=0 bookmarks");
}

//
TEST_F(ReflectorTest, DoesNotTrustVersionsOfSyntheticEvents) {
  start();  // an empty server: the list has version 0
  ASSERT_TRUE(server->wait_for_watches(1));
  server->put("a", "x");
  ASSERT_TRUE(server->wait_until_read());
  EXPECT_EQ(reflector->last_sync_resource_version(), "0");
  server->put("a", "x");
  EXPECT_TRUE(shows("a/x@2"));
  EXPECT_EQ(reflector->last_sync_resource_version(), "2");
  server->put("a", "y");
  EXPECT_TRUE(shows("a/x@2 a/y@3"));
  EXPECT_EQ(reflector->last_sync_resource_version(), "3");
}

//
TEST_F(ReflectorTest, SkipsUnusableEvents) {
  server->put("a", "x");
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->emit({EventType::kAdded, item("a", "", "50"), {}});
  server->emit({EventType::kModified, {}, {}});
  server->put("a", "y");
  EXPECT_TRUE(shows("a/x@1 a/y@2"));
  EXPECT_EQ(reflector->last_sync_resource_version(), "2");
  EXPECT_EQ(count(What::kRejectedObject), 2U);
}

// K-5: an event that cannot be applied is not lost.
class RefusingTarget final : public detail::ReflectorTarget {
 public:
  explicit RefusingTarget(std::shared_ptr<detail::IndexerCore> store) : inner(std::move(store)) {}
  void add(detail::ObjectRef object) override {
    if (refuse.exchange(false)) throw Error("no room");
    inner.add(std::move(object));
  }
  void update(detail::ObjectRef object) override { inner.update(std::move(object)); }
  void erase(detail::ObjectRef last) override { inner.erase(std::move(last)); }
  void replace(std::vector<detail::ObjectRef> objects, std::string version) override {
    if (refuse_list.exchange(false)) throw Error("no room");
    inner.replace(std::move(objects), std::move(version));
  }
  void resync(std::shared_ptr<const detail::ResyncRequest>) override {}
  void bookmark(std::string version) override { inner.bookmark(std::move(version)); }
  [[nodiscard]] detail::ObjectRef known(const void* object) const override {
    return inner.known(object);
  }

  detail::StoreTarget inner;
  std::atomic<bool> refuse = false;
  std::atomic<bool> refuse_list = false;
};

// K-5, R-47, R-30, K-9, K-31: the failure is reported with its reason.
TEST_F(ReflectorTest, ListsAgainWhenTheStoreRefuses) {
  server->put("a", "x");
  server->set_watch_list(true);
  RefusingTarget target{detail::Inside::core(store)};
  target.refuse_list = true;
  const auto source = detail::polled_form(std::make_shared<detail::ErasedListWatch<Item>>(server));
  detail::ReflectorCore core{detail::kObjectAccess<Item>, source, target, options};
  thread = std::jthread{[&](std::stop_token token) {
    detail::run_reflector(core, *source, clock, std::move(token));
  }};
  const std::shared_ptr<void> at_end{nullptr, [&](void*) { stop(); }};
  ASSERT_TRUE(wait_for(What::kListFailed));
  EXPECT_EQ(error(0), "unable to sync list result: no room");
  EXPECT_EQ(core.last_version(), "");
  EXPECT_TRUE(server->wait_for_watches(0));  // the stream is not leaked
  pass(800ms);
  ASSERT_TRUE(wait_for(What::kStateStreamed));

  target.refuse = true;
  server->put("a", "y");
  ASSERT_TRUE(wait_for(What::kRejectedEvent));
  EXPECT_EQ(core.last_version(), "1");  // not advanced
  pass(1600ms);
  EXPECT_TRUE(shows("a/x@1 a/y@2"));
  stop();
}

// I-9, Q-9, Q-10, S-28, S-29, W-8, K-10, K-31: the transform runs once per object, before all other
// steps.
TEST_F(ReflectorTest, TransformsEachObjectOnce) {
  server->put("a", "x");
  server->put("a", "bad");
  server->set_watch_list(true);
  std::atomic<int> calls = 0;
  std::atomic<bool> fail = true;
  detail::StoreTarget target{detail::Inside::core(store)};
  detail::ReflectorHooks hooks;
  hooks.transform = [&](const detail::ObjectRef& object) {
    Item edited = object.as<Item>();
    if (edited.metadata.name == "bad" && fail) throw Error("too bad");
    ++calls;
    edited.metadata.labels["seen"] = "yes";
    return detail::ObjectRef::from(freeze(edited));
  };
  const auto source = detail::polled_form(std::make_shared<detail::ErasedListWatch<Item>>(server));
  detail::ReflectorCore core{detail::kObjectAccess<Item>, source, target, options, hooks};
  thread = std::jthread{[&](std::stop_token token) {
    detail::run_reflector(core, *source, clock, std::move(token));
  }};
  const std::shared_ptr<void> at_end{nullptr, [&](void*) { stop(); }};
  ASSERT_TRUE(wait_for(What::kListFailed));
  EXPECT_EQ(error(0), "unable to sync list result: transforming: a/bad: too bad");
  EXPECT_EQ(store.size(), 0U);
  fail = false;
  calls = 0;
  pass(800ms);
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(store.list("", labels::Selector::parse("seen=yes")).size(), 2U);

  fail = true;
  server->put("a", "bad");
  ASSERT_TRUE(wait_for(What::kRejectedEvent));
  fail = false;
  calls = 0;
  pass(1600ms);
  EXPECT_TRUE(shows("a/bad@3 a/x@1"));
  EXPECT_EQ(calls, 1);  // the unchanged object was not transformed again
  stop();
}

// K-8, R-37: watches that end soon without an event are reopened with growing pauses; a long-lived
// one resets them.
TEST_F(ReflectorTest, ReopensEmptyWatchesWithGrowingPauses) {
  options.reconnect_floor = 20ms;
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  for (const auto pause : {20ms, 40ms, 80ms}) {
    clock.advance(2s);  // longer than a very short watch
    server->end_watches();
    ASSERT_TRUE(clock.wait_for_sleepers(1));
    EXPECT_EQ(clock.next_deadline() - clock.now(), pause);
    clock.advance(pause);
    ASSERT_TRUE(server->wait_for_watches(1));
  }
  clock.advance(1min);
  const std::size_t asked = server->requests().size();
  server->end_watches();
  ASSERT_TRUE(server->wait_for_requests(asked + 1));  // immediately
  EXPECT_EQ(count(What::kListing), 1U);
}

// K-8, R-37: a watch that delivered an event or a bookmark is followed by the next one after the
// shortest pause, however often that happens: behind a proxy that cuts connections the cache must
// not lag.
TEST_F(ReflectorTest, ReopensUsefulWatchesSoon) {
  options.reconnect_floor = 20ms;
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  for (int i = 0; i < 10; ++i) {
    if (i % 2 == 0) {
      server->put("a", "x");
    } else {
      server->bookmark();
    }
    ASSERT_TRUE(server->wait_until_read());
    clock.advance(5s);
    server->end_watches();
    ASSERT_TRUE(clock.wait_for_sleepers(1));
    EXPECT_EQ(clock.next_deadline() - clock.now(), 20ms);
    clock.advance(20ms);
    ASSERT_TRUE(server->wait_for_watches(1));
  }
  EXPECT_EQ(count(What::kListing), 1U);
}

// W-18
TEST_F(ReflectorTest, WarnsOfEveryAttemptToReachTheServer) {
  std::vector<std::string> lines;
  options.log = Logger{[&](LogLevel level, std::string_view, std::string_view text) {
    const std::lock_guard guard{mutex};
    if (level == LogLevel::kWarning) lines.emplace_back(text);
  }};
  server->set_watch_list(true);
  const Failure refused = lost(TransportError::Kind::kConnect);
  server->script_watches({refused, refused, refused});
  start();
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_TRUE(wait_for(What::kBackingOff, attempt));
    {
      const std::lock_guard guard{mutex};
      ASSERT_EQ(lines.size(), attempt);  // immediately, not after the pause
      EXPECT_NE(lines.back().find("retrying: gone"), std::string::npos) << lines.back();
    }
    pass(800ms * (1 << (attempt - 1)));
  }
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  stop();
  EXPECT_EQ(lines.size(), 3U);
}

//
TEST_F(ReflectorTest, IsNamedAfterItsType) {
  std::vector<std::string> lines;
  options.log = Logger{[&](LogLevel, std::string_view component, std::string_view text) {
                         const std::lock_guard guard{mutex};
                         lines.push_back(fmt::format("{}: {}", component, text));
                       },
                       LogLevel::kDebug};
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  stop();
  EXPECT_EQ(lines.at(0).find("reflector: PartialObjectMetadata: listing PartialObjectMetadata"), 0U)
      << lines.at(0);
}

// N-2: untyped documents.
TEST(ReflectorOfValues, TakesOnlyTheExpectedKind) {
  struct Stream final : WatchStream<Value> {
    std::optional<WatchEvent<Value>> next(std::stop_token stop) override {
      const auto document = [](const char* kind, const char* name, const char* version) {
        return freeze(Value::object(
            {{"apiVersion",
              std::string_view{kind} == "Table" ? "meta.k8s.io/v1" : "example.com/v1"},
             {"kind", kind},
             {"metadata", Value::object({{"name", name}, {"resourceVersion", version}})}}));
      };
      switch (step++) {
        case 0:
          return WatchEvent<Value>{EventType::kAdded, document("Table", "t", "2"), {}};
        case 1:
          return WatchEvent<Value>{EventType::kAdded, document("Bar", "b", "3"), {}};
        case 2:
          return WatchEvent<Value>{EventType::kAdded, document("Foo", "f", "4"), {}};
        default:
          break;
      }
      std::mutex mutex;
      Condition never;
      std::unique_lock lock{mutex};
      never.wait(lock, stop, [] { return false; });
      return std::nullopt;
    }
    int step = 0;
  };
  auto source = std::make_shared<FunctionListWatch<Value>>(
      [](const ListOptions&, const auto&, std::stop_token) {
        return ListMetadata{.resource_version = "1"};
      },
      [](const ListOptions& options, std::stop_token) -> std::unique_ptr<WatchStream<Value>> {
        EXPECT_EQ(options.label_selector, "app=web");
        return std::make_unique<Stream>();
      },
      [](ListOptions& options) { options.label_selector = "app=web"; }, false);
  Indexer<Value> store;
  std::vector<std::string> rejected;
  Reflector<Value> reflector{source,
                             store,
                             {.expected_kind = GroupVersionKind{"example.com", "v1", "Foo"},
                              .on_state = [&](const ReflectorEvent& event) {
                                if (event.kind == What::kRejectedObject)
                                  rejected.push_back(event.message);
                              }}};
  std::jthread thread{[&](std::stop_token stop) { reflector.run(std::move(stop)); }};
  EXPECT_TRUE(store.wait_for_version("4", 10s));
  thread.request_stop();
  thread.join();
  EXPECT_EQ(store.keys(), (std::vector<std::string>{"f"}));
  EXPECT_EQ(rejected.size(), 2U);
}

// L-2, L-4, L-3: the tweak receives each request's own options.
TEST(FunctionListWatch, TweaksACopyOfTheOptionsOfEachRequest) {
  std::vector<std::string> selectors;
  FunctionListWatch<Item> source{
      [&](const ListOptions& options, const auto&, std::stop_token) {
        selectors.push_back(options.field_selector + "/" + std::to_string(options.limit));
        return ListMetadata{};
      },
      [&](const ListOptions& options, std::stop_token) -> std::unique_ptr<WatchStream<Item>> {
        selectors.push_back(options.field_selector);
        return nullptr;
      },
      [](ListOptions& options) { options.field_selector += "x=1"; }};
  ListOptions options;
  options.limit = 7;
  (void)source.list(options, [](const Ref<Item>&) {}, {});
  (void)source.watch(options, {});
  EXPECT_EQ(selectors, (Strings{"x=1/7", "x=1"}));
  EXPECT_EQ(options.field_selector, "");
  EXPECT_TRUE(source.supports_watch_list());
}

//
TEST(ReflectorErrors, AreLoggedAtALevelThatFitsTheirSeverity) {
  std::vector<std::string> lines;
  ReflectorOptions options{.name = "r", .type_description = "Item"};
  options.log = Logger{[&](LogLevel level, std::string_view, std::string_view) {
                         lines.push_back(level == LogLevel::kError  ? "error"
                                         : level == LogLevel::kInfo ? "info"
                                                                    : "debug");
                       },
                       LogLevel::kDebug};
  const auto handle = [&](const Failure& failure) {
    try {
      failure();
    } catch (...) {
      default_watch_error_handler(options, {"x", std::current_exception()});
    }
  };
  handle(api_error(410, "Expired"));
  handle(lost(TransportError::Kind::kConnectionLost));
  handle(api_error(403, "Forbidden"));
  EXPECT_EQ(lines, (Strings{"debug", "info", "error"}));
}

}  // namespace
}  // namespace kube
