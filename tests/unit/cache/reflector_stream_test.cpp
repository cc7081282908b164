// SPDX-License-Identifier: Apache-2.0
// How a Reflector streams the initial state (WatchList).
#include <kube/cache/reflector.hpp>

#include "blocking_source.hpp"
#include "reflector_fixture.hpp"
#include "run_reflector.hpp"
#include "store_target.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::Item;
using testing_support::item;
using testing_support::lost;
using testing_support::ReflectorTest;
using testing_support::show;
using testing_support::status;
using What = ReflectorEvent::Kind;
using Strings = std::vector<std::string>;

// W-1, W-2, W-4, W-5, W-6, W-7
TEST_F(ReflectorTest, StreamsTheInitialState) {
  server->put("a", "x");
  server->put("a", "y");
  server->set_watch_list(true);
  start();
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  EXPECT_EQ(show(store.list()), "a/x@1 a/y@2");
  EXPECT_EQ(store.resource_version(), "2");
  server->put("a", "z");
  EXPECT_TRUE(shows("a/x@1 a/y@2 a/z@3"));
  EXPECT_EQ(server->requests(), (Strings{"watch rv= bookmarks initial NotOlderThan"}));
  EXPECT_EQ(reflector->last_sync_resource_version(), "3");
  clock.advance(5s);
  server->end_watches();
  ASSERT_TRUE(server->wait_for_requests(2));
  EXPECT_EQ(server->requests().at(1), "watch rv=3 bookmarks");
}

// W-3, W-4: changes during the initial state; bookmarks that do not end it.
TEST_F(ReflectorTest, AppliesChangesToAStateThatIsArriving) {
  server->put("a", "x");
  server->put("a", "y");
  server->set_watch_list(true);
  server->omit_end_of_state();
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->put("a", "x");
  server->remove("a", "y");
  server->put("a", "z");
  server->bookmark();
  ASSERT_TRUE(server->wait_until_read());
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(reflector->last_sync_resource_version(), "");
  server->bookmark(true);
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  EXPECT_EQ(show(store.list()), "a/x@3 a/z@5");
  EXPECT_EQ(reflector->last_sync_resource_version(), "5");
}

// W-1, L-6
TEST_F(ReflectorTest, ListsIfTheSourceCannotStreamTheState) {
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->requests().at(0), "list rv=0 limit=500");
  stop();
  options.watch_list = false;
  server->set_watch_list(true);
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->requests().at(2), "list rv=0 limit=500");
}

// W-11, W-12
TEST_F(ReflectorTest, FallsBackToAListAndTriesTheStreamAgainLater) {
  server->put("a", "x");
  server->set_watch_list(true);
  server->script_watches({api_error(422, "Invalid")});
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(server->requests(), (Strings{"watch rv= bookmarks initial NotOlderThan",
                                         "list rv=0 limit=500", "watch rv=1 bookmarks"}));
  EXPECT_TRUE(seen_errors().empty());
  EXPECT_EQ(count(What::kFellBackToList), 1U);
  server->end_watches(status(410, "Expired"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(server->requests().at(3), "watch rv=1 bookmarks initial NotOlderThan");
}

// W-9
TEST_F(ReflectorTest, StreamsTheStateAgainWhenRefused) {
  server->set_watch_list(true);
  server->script_watches({lost(TransportError::Kind::kConnect), api_error(429, "TooManyRequests")});
  start();
  pass(800ms);
  pass(1600ms);
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  EXPECT_EQ(server->requests().size(), 3U);
  EXPECT_EQ(count(What::kStateRestarted), 2U);
}

// W-10
TEST_F(ReflectorTest, StreamsTheNewestStateWhenTheVersionIsNotAvailable) {
  server->put("a", "x");
  server->set_watch_list(true);
  start();
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  server->script_watches({api_error(410, "Expired"), nullptr});
  server->end_watches(status(410, "Expired"));
  pass(800ms);
  ASSERT_TRUE(wait_for(What::kStateStreamed, 2));
  EXPECT_EQ(server->requests().at(1), "watch rv=1 bookmarks initial NotOlderThan");
  EXPECT_EQ(server->requests().at(2), "watch rv= bookmarks initial NotOlderThan");
  EXPECT_EQ(server->requests().size(), 3U);
}

// W-13, K-8: a stream that ends before the state is complete is retried with growing pauses.
TEST_F(ReflectorTest, StreamsTheStateAgainWhenTheStreamEnds) {
  options.reconnect_floor = 20ms;
  server->put("a", "x");
  server->set_watch_list(true);
  server->omit_end_of_state();
  start();
  for (const auto pause : {20ms, 40ms, 80ms}) {
    ASSERT_TRUE(server->wait_for_watches(1));
    ASSERT_TRUE(server->wait_until_read());
    server->end_watches();
    ASSERT_TRUE(clock.wait_for_sleeper_until(clock.now() + pause));
    EXPECT_EQ(clock.next_deadline() - clock.now(), pause);
    clock.advance(pause);
  }
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(store.size(), 0U);
}

// W-14
TEST_F(ReflectorTest, StopsWhileTheStateArrives) {
  server->put("a", "x");
  server->set_watch_list(true);
  server->omit_end_of_state();
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  stop();
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(server->open_watches(), 0U);
  EXPECT_TRUE(seen_errors().empty());
}

// W-15
TEST_F(ReflectorTest, WarnsWhenTheStateDoesNotArrive) {
  std::vector<std::string> lines;
  options.log = Logger{[&](LogLevel level, std::string_view, std::string_view text) {
    const std::lock_guard guard{mutex};
    if (level == LogLevel::kWarning) lines.emplace_back(text);
    changed.notify_all();
  }};
  server->set_watch_list(true);
  server->omit_end_of_state();
  detail::StoreTarget target{detail::Inside::core(store)};
  const auto source = detail::polled_form(std::make_shared<detail::ErasedListWatch<Item>>(server));
  detail::ReflectorCore core{detail::kObjectAccess<Item>, source, target, options};
  thread = std::jthread{[&](std::stop_token token) {
    detail::run_reflector(core, *source, clock, std::move(token));
  }};
  const std::shared_ptr<void> at_end{nullptr, [&](void*) { stop(); }};
  ASSERT_TRUE(server->wait_for_watches(1));
  const auto has_lines = [&](std::size_t count) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, 10s, [&] { return lines.size() == count; });
  };
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(clock.next_deadline() - clock.now(), 10s);
  clock.advance(10s);
  EXPECT_TRUE(has_lines(1));
  server->put("a", "x");
  ASSERT_TRUE(server->wait_until_read());
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(10s);
  EXPECT_TRUE(has_lines(2));
  stop();
  EXPECT_EQ(clock.sleepers(), 0U);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("not a single event"), std::string::npos);
  EXPECT_NE(lines[1].find("no further event"), std::string::npos);
}

// W-16, IE-10: also with a blocking source, which is listed while its watch is open.
TEST_F(ReflectorTest, ComparesAStreamedStateWithAList) {
  options.check_consistency = true;
  server->put("a", "x");
  server->set_watch_list(true);
  start();
  ASSERT_TRUE(wait_for(What::kStateStreamed));
  EXPECT_EQ(server->requests().at(1), "list rv=1 limit=0 Exact");
  EXPECT_EQ(count(What::kInconsistent), 0U);
  stop();

  server->add_to_lists(item("a", "hidden", "1"));
  server->script_lists({api_error(500, "InternalError")});
  start();
  pass(1s);  // the check is repeated until it succeeds
  ASSERT_TRUE(wait_for(What::kInconsistent));
  ASSERT_TRUE(wait_for(What::kListed));  // the list takes precedence
  EXPECT_TRUE(shows("a/hidden@1 a/x@1"));
}

}  // namespace
}  // namespace kube
