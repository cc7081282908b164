// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/codec/json.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Item;
using testing_support::Recorder;
using testing_support::SharedInformerTest;
using testing_support::show;
using testing_support::status;

// K-22: an informer has all options of a Reflector.
TEST_F(SharedInformerTest, PassesItsOptionsToTheReflector) {
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
  // The watch is reopened without a list.
  server->end_watches(status(500, "InternalError"));
  ASSERT_TRUE(server->wait_for_requests(6));
  EXPECT_EQ(server->requests()[5], "watch rv=5 bookmarks");
  stop();
}

// K-27, IE-1, IE-5: objects are transformed and indexed one at a time, on whichever thread, and a
// handler that never returns blocks neither.
TEST_F(SharedInformerTest, ContinuesWhileAHandlerBlocks) {
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  const auto alone = [&] {
    if (++inside > 1) overlapped = true;
    --inside;
  };
  options.transform = [&](Item&) { alone(); };
  options.indexers = {{"all", [&](const Item&) {
                         alone();
                         return std::vector<std::string>{"all"};
                       }}};
  server->put("a", "x");
  std::promise<void> go;
  const std::shared_future<void> gone{go.get_future()};
  Recorder recorder;
  make().add_event_handler({.on_add = [&](const Item&) { gone.wait(); }});
  informer->add_event_handler(recorder.handler());
  start();
  ASSERT_TRUE(wait(informer->synced()));
  for (int i = 0; i < 10; ++i) server->put("a", "y" + std::to_string(i));
  EXPECT_TRUE(recorder.wait_for_count(11));
  EXPECT_EQ(informer->indexer().by_index("all", "all").size(), 11U);
  EXPECT_FALSE(overlapped);
  go.set_value();
  stop();
}

// S-30, R-46: events of another kind reach neither the cache nor handlers.
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
