// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/codec/json.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Item;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::show;
using testing_support::status;

// K-22: what a Reflector can be told, an informer can be told, too.
TEST_F(SharedInformerTest, HandsItsOptionsToTheReflector) {
  for (const char* name : {"u", "v", "w", "x", "y"}) server->put("a", name);
  options.page_size = 2;
  options.min_watch_timeout = 20min;
  options.backoff.initial = 7s;
  options.max_internal_error_retry = 1min;
  server->script_lists({testing_support::api_error(503, "ServiceUnavailable")});
  start();
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(clock.next_deadline() - clock.now(), 7s);
  clock.advance(7s);
  ASSERT_TRUE(wait(informer->synced()));
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->timeouts(), std::vector<std::int64_t>{20 * 60});
  EXPECT_EQ(server->requests()[1], "list rv=0 limit=2");
  EXPECT_EQ(server->requests().size(), 5U);
  // The watch is opened again, and nothing is listed.
  server->end_watches(status(500, "InternalError"));
  ASSERT_TRUE(server->wait_for_requests(6));
  EXPECT_EQ(server->requests()[5], "watch rv=5 bookmarks");
  stop();
}

// K-27: transforms, the store and handlers have a thread each, so that one need not wait for the other.
TEST_F(SharedInformerTest, WorksInStages) {
  std::mutex mutex;
  std::set<std::thread::id> transforming;
  std::set<std::thread::id> indexing;
  std::set<std::thread::id> handling;
  const auto note = [&](std::set<std::thread::id>& where) {
    const std::lock_guard guard{mutex};
    where.insert(std::this_thread::get_id());
  };
  options.transform = [&](Item&) { note(transforming); };
  options.indexers = {{"all", [&](const Item&) {
                         note(indexing);
                         return std::vector<std::string>{"all"};
                       }}};
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  informer->add_event_handler({.on_add = [&](const Item&) { note(handling); }});
  start_and_sync();
  for (int i = 0; i < 10; ++i) server->put("a", "y" + std::to_string(i));
  ASSERT_TRUE(recorder.wait_for_count(11));
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return !handling.empty();
  }));
  stop();
  ASSERT_EQ(transforming.size(), 1U);
  ASSERT_EQ(indexing.size(), 1U);
  ASSERT_EQ(handling.size(), 1U);
  EXPECT_NE(*transforming.begin(), *indexing.begin());
  EXPECT_NE(*indexing.begin(), *handling.begin());
  EXPECT_NE(*transforming.begin(), *handling.begin());
}

// S-30, R-46: events about something else reach neither the cache nor handlers.
TEST(InformerOfValues, IgnoresObjectsOfAnotherKind) {
  struct Stream final : WatchStream<Value> {
    explicit Stream(std::vector<Ref<Value>> sent) : events(std::move(sent)) {}
    std::optional<WatchEvent<Value>> next(std::stop_token stop) override {
      if (at < events.size()) return WatchEvent<Value>{EventType::kAdded, events[at++], {}};
      std::mutex mutex;
      std::unique_lock lock{mutex};
      Condition{}.wait(lock, stop, [] { return false; });
      return std::nullopt;
    }
    std::vector<Ref<Value>> events;
    std::size_t at = 0;
  };
  const auto object = [](const char* kind, const char* name) {
    return decode_json<Value>(std::string{R"({"apiVersion":"example.com/v1","kind":")"} + kind +
                              R"(","metadata":{"name":")" + name + R"(","resourceVersion":"2"}})");
  };
  const auto source = std::make_shared<FunctionListWatch<Value>>(
      [](const ListOptions&, const auto&, std::stop_token) {
        return ListMetadata{.resource_version = "1"};
      },
      [&](const ListOptions&, std::stop_token) {
        return std::make_unique<Stream>(
            std::vector{object("Bar", "a"), object("Foo", "b"), object("Status", "c")});
      });
  InformerOptions<Value> options;
  options.watch_list = false;
  options.expected_kind = GroupVersionKind{"example.com", "v1", "Foo"};
  testing_support::RecorderOf<Value> recorder;
  SharedIndexInformer<Value> informer{source, options};
  informer.add_event_handler(recorder.handler());
  std::jthread run{[&](std::stop_token stop) { informer.run(std::move(stop)); }};
  EXPECT_TRUE(recorder.wait_for("add b@2"));
  run.request_stop();
  run.join();
  EXPECT_EQ(recorder.events().size(), 1U);
  EXPECT_EQ(informer.indexer().keys(), std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace kube
