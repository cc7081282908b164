// SPDX-License-Identifier: Apache-2.0
// How a Reflector lists: pages, versions, back-off.
#include <kube/cache/reflector.hpp>

#include "reflector_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::Failure;
using testing_support::item;
using testing_support::ReflectorTest;
using testing_support::show;
using testing_support::status;
using What = ReflectorEvent::Kind;
using Strings = std::vector<std::string>;

// K-7
TEST_F(ReflectorTest, BacksOffWhenListsFail) {
  server->script_lists({api_error(403, "Forbidden"), api_error(500, "InternalError"),
                        api_error(503, "ServiceUnavailable")});
  start();
  pass(800ms);
  pass(1600ms);
  pass(3200ms);
  ASSERT_TRUE(server->wait_for_watches(1));
  const Strings failed = seen_errors();
  ASSERT_EQ(failed.size(), 3U);
  EXPECT_EQ(failed[0],
            "failed to list PartialObjectMetadata: the server answered with code 403 (Forbidden)");
  EXPECT_EQ(last(What::kBackingOff).duration, 3200ms);
  EXPECT_EQ(reflector->last_error(), "");  // the next list succeeded
}

// K-7: a stop ends every wait.
TEST_F(ReflectorTest, StopsWhileBackingOff) {
  server->script_lists({api_error(403, "Forbidden")});
  start();
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  stop();
  EXPECT_EQ(server->requests().size(), 1U);
}

// jitter and cap
TEST_F(ReflectorTest, GrowsItsDelaysUpToTheCap) {
  options.backoff.random = [] { return 0.5; };
  std::vector<Failure> failures(9, api_error(403, "Forbidden"));
  server->script_lists(failures);
  start();
  for (const auto delay : {1200ms, 2400ms, 4800ms, 9600ms, 19200ms, 38400ms, 45000ms, 45000ms}) {
    ASSERT_TRUE(clock.wait_for_sleepers(1));
    EXPECT_EQ(last(What::kBackingOff).duration, delay);
    clock.advance(delay);
    ASSERT_TRUE(wait_for(What::kBackingOff, count(What::kBackingOff)));
    while (count(What::kListing) < count(What::kBackingOff)) std::this_thread::yield();
  }
}

// R-7, K-6: the back-off is reset after two minutes without a delay.
TEST_F(ReflectorTest, BeginsWithShortDelaysAfterAQuietTime) {
  server->script_lists({api_error(403, "Forbidden"), api_error(403, "Forbidden")});
  start();
  pass(800ms);
  pass(1600ms);
  ASSERT_TRUE(server->wait_for_watches(1));
  clock.advance(3min);
  server->end_watches(status(410, "Expired"));
  ASSERT_TRUE(wait_for(What::kBackingOff, 3));
  EXPECT_EQ(last(What::kBackingOff).duration, 800ms);
}

// the version expires in the stream.
TEST_F(ReflectorTest, ListsAgainAtTheLastVersionWhenTheWatchExpires) {
  server->put("a", "x");
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->end_watches(status(410, "Expired"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=500", "watch rv=1 bookmarks",
                                         "list rv=1 limit=0", "watch rv=1 bookmarks"}));
  EXPECT_TRUE(seen_errors().empty());
  EXPECT_EQ(count(What::kWatchExpired), 1U);  // K-25
}

//
TEST_F(ReflectorTest, AsksForTheNewestStateWhenAVersionIsNotAvailable) {
  server->put("a", "x");
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  // The first list fails once as expired, once with another reason of the same code; each retry
  // fails once, too.
  server->script_lists({api_error(410, "Gone"), api_error(500, "InternalError"), nullptr});
  server->end_watches(status(500, "InternalError"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(4));
  pass(1600ms);
  ASSERT_TRUE(server->wait_for_requests(6));
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=500", "watch rv=1 bookmarks",
                                         "list rv=1 limit=0",  // the version it has
                                         "list rv= limit=0",   // immediately, with the same limit
                                         // still without a version, because that failed
                                         "list rv= limit=500", "watch rv=1 bookmarks"}));
  EXPECT_EQ(seen_errors().size(), 1U);
  ASSERT_TRUE(server->wait_for_watches(1));
  server->end_watches(status(410, "Expired"));
  pass(3200ms);
  ASSERT_TRUE(server->wait_for_requests(7));
  EXPECT_EQ(server->requests().at(6), "list rv=1 limit=0");  // the version is used again
}

//
TEST_F(ReflectorTest, RecognisesAVersionThatIsTooLarge) {
  server->put("a", "x");
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  server->jump_version(-1);  // another server, which is behind
  server->end_watches(status(410, "Gone"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(4));
  EXPECT_EQ(server->requests().at(2), "list rv=1 limit=0");
  EXPECT_EQ(server->requests().at(3), "list rv= limit=0");
  EXPECT_EQ(count(What::kListRestarted), 1U);
}

//
TEST_F(ReflectorTest, ReadsAllPages) {
  options.page_size = 2;
  for (const char* name : {"a", "b", "c", "d", "e"}) server->put("n", name);
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(show(store.list()), "n/a@1 n/b@2 n/c@3 n/d@4 n/e@5");
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=2", "list rv= limit=2 continue=2",
                                         "list rv= limit=2 continue=4", "watch rv=5 bookmarks"}));
}

// a server that answers version "0" in pages gets a limit from then on.
TEST_F(ReflectorTest, RemembersThatTheServerSendsPages) {
  for (int i = 0; i < 501; ++i) server->put("n", fmt::format("x{}", i));
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(store.size(), 501U);
  server->end_watches(status(410, "Expired"));
  pass(800ms);
  ASSERT_TRUE(server->wait_for_requests(5));
  EXPECT_EQ(server->requests().at(3), "list rv=501 limit=500");
}

//
TEST_F(ReflectorTest, ListsAllAtOnceWhenALaterPageExpires) {
  options.page_size = 2;
  for (const char* name : {"a", "b", "c"}) server->put("n", name);
  server->script_lists({nullptr, api_error(410, "Expired")});
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(show(store.list()), "n/a@1 n/b@2 n/c@3");
  EXPECT_EQ(server->requests(), (Strings{"list rv=0 limit=2", "list rv= limit=2 continue=2",
                                         "list rv=0 limit=0", "watch rv=3 bookmarks"}));
}

//
TEST_F(ReflectorTest, RefusesATable) {
  server->set_list_kind("meta.k8s.io/v1", "Table");
  start();
  ASSERT_TRUE(wait_for(What::kListFailed));
  EXPECT_NE(error(0).find("Table"), std::string::npos);
}

// K-4: one bad object does not invalidate a list.
TEST_F(ReflectorTest, LeavesOutAnObjectWithoutName) {
  server->put("a", "x");
  server->add_to_lists(item("a", ""));
  start();
  ASSERT_TRUE(server->wait_for_watches(1));
  EXPECT_EQ(show(store.list()), "a/x@1");
  EXPECT_EQ(count(What::kRejectedObject), 1U);
}

// K-26: a stop cancels the list; the store is unchanged.
TEST_F(ReflectorTest, StopsWhileListing) {
  server->put("a", "x");
  server->hang_lists();
  start();
  ASSERT_TRUE(server->wait_for_requests(1));
  stop();
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(count(What::kListed), 0U);
  EXPECT_EQ(count(What::kStopped), 1U);
  EXPECT_TRUE(seen_errors().empty());
  EXPECT_EQ(server->requests().size(), 1U);

  std::stop_source stopped;
  stopped.request_stop();
  reflector->run(stopped.get_token());  // may list once more, but never watches
  EXPECT_EQ(server->open_watches(), 0U);
}

}  // namespace
}  // namespace kube
