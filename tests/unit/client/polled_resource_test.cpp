// SPDX-License-Identifier: Apache-2.0
// Polled lists and watches (RC-74, RC-76).
#include <kube/api/core/v1.hpp>
#include <kube/base/metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../../src/client/list_operation.hpp"
#include "../../../src/client/watch_operation.hpp"
#include "polling_fixture.hpp"

namespace kube::test {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using detail::AnyRef;
using detail::ListOperation;
using detail::Poll;
using detail::ResourceCore;
using detail::WatchOperation;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = TransportError::Kind;

constexpr std::size_t kPlenty = 1 << 20;
/// A stream may always hold 64 KiB.
constexpr std::size_t kBudget = std::size_t{128} << 10;
constexpr auto kNever = Clock::TimePoint::max();

std::string list_of(const std::vector<std::string>& pods, const std::string& metadata = "{}") {
  std::string text =
      R"({"kind":"PodList","apiVersion":"v1","metadata":)" + metadata + R"(,"items":[)";
  for (std::size_t i = 0; i < pods.size(); ++i) text += (i == 0 ? "" : ",") + pods[i];
  return text + "]}";
}
std::string event_of(const std::string& type, const std::string& pod) {
  return R"({"type":")" + type + R"(","object":)" + pod + "}\n";
}
/// Returns an encoded pod of at least `size` bytes.
std::string large_pod(const std::string& name, std::size_t size) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"shop","annotations":{"a":")" + std::string(size, 'x') + R"("}}})";
}

struct PolledResourceTest : PollingTest {
  ResourceCore pods() {
    return {shared_rest(),
            {.resource = {"", "v1", "pods"},
             .is_namespaced = true,
             .scope_is_known = true,
             .namespace_ = "shop",
             .type = &type_of<Pod>()}};
  }
  std::unique_ptr<ListOperation> list(const ListOptions& options = {}) {
    return pods().start_list(options, poller());
  }
  /// Returns a list whose response has begun.
  std::unique_ptr<ListOperation> answered_list() {
    auto operation = list();
    EXPECT_EQ(poll(*operation), Poll::kPending);
    transport->last().answer(200);
    EXPECT_EQ(poll(*operation), Poll::kPending);
    return operation;
  }
  Poll poll(ListOperation& operation, std::size_t budget = kPlenty) {
    return operation.poll(
        [this](const AnyRef& item) {
          names.emplace_back(detail::cast<Pod>(item)->metadata.name.view());
        },
        budget);
  }
  std::unique_ptr<WatchOperation> open_watch() {
    auto operation = pods().start_watch({.resource_version = "5"}, poller());
    EXPECT_EQ(operation->poll_open(), Poll::kPending);
    transport->last().answer(200);
    EXPECT_EQ(operation->poll_open(), Poll::kReady);
    (void)waker->take();
    return operation;
  }
  static std::string name_of(const std::optional<detail::AnyWatchEvent>& event) {
    if (!event || !event->object) return "none";
    return std::string{event->object.to<Pod>()->metadata.name.view()};
  }

  std::vector<std::string> names;
};

// RC-74
TEST_F(PolledResourceTest, AListHandsOutEachItemWhenItHasArrived) {
  const std::string body =
      list_of({pod_json("a"), pod_json("b")}, R"({"resourceVersion":"12","continue":"next"})");
  const std::size_t middle = body.find(R"("name":"b")");
  const auto operation = list({.label_selector = "app=web", .limit = 2});
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_EQ(transport->last().request.target,
            "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb&limit=2");
  transport->last().answer(200);
  EXPECT_EQ(poll(*operation), Poll::kPending);

  transport->last().send(body.substr(0, middle));
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_THAT(names, ElementsAre("a"));
  transport->last().send(body.substr(middle));
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  transport->last().end();
  EXPECT_EQ(poll(*operation), Poll::kReady);
  EXPECT_EQ(operation->metadata().resource_version, "12");
  EXPECT_EQ(operation->metadata().continue_token, "next");
}

// RC-76
TEST_F(PolledResourceTest, AListDecodesNoMoreThanItIsAllowedTo) {
  std::vector<std::string> items;
  for (int i = 0; i < 20; ++i) items.push_back(pod_json("pod-" + std::to_string(i)));
  const std::string body = list_of(items);
  const auto operation = answered_list();
  transport->last().send(body);
  transport->last().end();

  std::size_t polls = 1;
  std::size_t most = 0;
  Poll result = Poll::kMore;
  for (; result == Poll::kMore; ++polls) {
    const std::size_t before = names.size();
    result = poll(*operation, 150);
    most = std::max(most, names.size() - before);
  }
  EXPECT_EQ(result, Poll::kReady);
  EXPECT_EQ(names.size(), 20U);
  EXPECT_LE(most, 2U);
  EXPECT_GE(polls, body.size() / 150);
}

// RC-74
TEST_F(PolledResourceTest, AListThatIsAStatusFails) {
  const std::string status = status_json(410, "Expired");
  const auto operation = answered_list();
  transport->last().send(status.substr(0, 30));
  EXPECT_EQ(poll(*operation), Poll::kPending);
  transport->last().send(status.substr(30));
  transport->last().end();
  EXPECT_TRUE(is_resource_expired(api_error([&] { (void)poll(*operation); })));
}

// RC-74
TEST_F(PolledResourceTest, AListWithoutABodyOrWithABrokenOneFails) {
  auto operation = answered_list();
  transport->last().end();
  EXPECT_THAT(api_error([&] { (void)poll(*operation); }).what(), HasSubstr("empty body"));

  operation = answered_list();
  transport->last().send(list_of({pod_json("a")}).substr(0, 60));
  transport->last().end();
  EXPECT_THROW((void)poll(*operation), CodecError);

  operation = answered_list();
  transport->last().send(list_of({pod_json("a")}).substr(0, 60));
  transport->last().fail(Kind::kConnectionLost);
  try {
    (void)poll(*operation);
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GET https://server/api/v1/namespaces/shop/pods"));
  }
}

// RC-74
TEST_F(PolledResourceTest, AListFallsBackToJson) {
  const auto operation = list();
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_THAT(header(transport->last().request, "Accept"), HasSubstr("protobuf"));
  transport->last().answer(406);
  transport->last().end();
  EXPECT_EQ(poll(*operation), Poll::kPending);
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_EQ(header(transport->last().request, "Accept"), "application/json, */*");
  transport->last().answer(200);
  transport->last().send(list_of({pod_json("a")}));
  transport->last().end();
  EXPECT_EQ(poll(*operation), Poll::kReady);
  EXPECT_THAT(names, ElementsAre("a"));
}

// RC-74
TEST_F(PolledResourceTest, ExceptionsOfTheReceiverPassThroughAList) {
  const auto operation = answered_list();
  transport->last().send(list_of({pod_json("a")}));
  EXPECT_THROW(
      (void)operation->poll([](const AnyRef&) { throw std::runtime_error("no"); }, kPlenty),
      std::runtime_error);
}

TEST_F(PolledResourceTest, RefusesMalformedSelectors) {
  EXPECT_THROW((void)list({.label_selector = "a in ("}), std::invalid_argument);
  EXPECT_THROW((void)pods().start_watch({.field_selector = "x"}, poller()), std::invalid_argument);
}

// RC-72, RC-74
TEST_F(PolledResourceTest, AListAboveTheBudgetWaitsUntilOthersGiveBytesBack) {
  scripted.options.max_buffered_bytes = kBudget;
  const auto operation = answered_list();
  const std::string body = list_of({large_pod("big", 90'000)});
  ByteAccount other{rest().budget(), scripted.clock, "another"};
  other.hold(100'000);
  transport->last().send(body.substr(0, 80'000));
  transport->last().send(body.substr(80'000));
  transport->last().end();
  (void)waker->take();
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_EQ(poll(*operation), Poll::kPending);
  EXPECT_EQ(transport->last().reads, 2);  // one of them found nothing
  EXPECT_EQ(operation->wake_at() - scripted.clock.now(), 5s);
  EXPECT_EQ(rest().budget()->refusals(), 1U);
  EXPECT_EQ(waker->take(), 0);

  other.hold(100);
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(poll(*operation), Poll::kReady);
  EXPECT_THAT(names, ElementsAre("big"));
}

// RC-72, RC-74
TEST_F(PolledResourceTest, AListThatDoesNotFitFailsAfterATimeout) {
  scripted.options.max_buffered_bytes = kBudget;
  const auto operation = answered_list();
  ByteAccount other{rest().budget(), scripted.clock, "another"};
  other.hold(100'000);
  transport->last().send(list_of({large_pod("big", 90'000)}).substr(0, 80'000));
  EXPECT_EQ(poll(*operation), Poll::kPending);
  scripted.clock.advance(4999ms);
  EXPECT_EQ(poll(*operation), Poll::kPending);
  scripted.clock.advance(1ms);
  EXPECT_THROW((void)poll(*operation), BudgetError);
}

// RC-72, RC-74: a destroyed waiter is not woken.
TEST_F(PolledResourceTest, AListThatIsDestroyedWhileItWaitsForTheBudgetIsForgotten) {
  scripted.options.max_buffered_bytes = kBudget;
  auto operation = answered_list();
  ByteAccount other{rest().budget(), scripted.clock, "another"};
  other.hold(100'000);
  transport->last().send(list_of({large_pod("big", 90'000)}).substr(0, 80'000));
  EXPECT_EQ(poll(*operation), Poll::kPending);
  operation.reset();
  EXPECT_TRUE(transport->last().canceled);
  (void)waker->take();
  other.hold(0);
  EXPECT_EQ(waker->take(), 0);
  EXPECT_EQ(rest().budget()->used(), 0U);
}

// RC-74
TEST_F(PolledResourceTest, AWatchHandsOutEventsAsTheyArrive) {
  const auto watch = open_watch();
  EXPECT_EQ(transport->last().request.target,
            "/api/v1/namespaces/shop/pods?resourceVersion=5&watch=true");
  EXPECT_FALSE(watch->poll_next());
  EXPECT_FALSE(watch->has_ended());
  EXPECT_EQ(watch->wake_at(), kNever);

  transport->last().send(event_of("ADDED", pod_json("a")) + event_of("MODIFIED", pod_json("b")) +
                         event_of("DELETED", pod_json("c")).substr(0, 20));
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(name_of(watch->poll_next()), "a");
  EXPECT_TRUE(watch->has_next());
  EXPECT_EQ(name_of(watch->poll_next()), "b");
  EXPECT_FALSE(watch->has_next());
  EXPECT_FALSE(watch->poll_next());
  transport->last().send(event_of("DELETED", pod_json("c")).substr(20));
  EXPECT_EQ(name_of(watch->poll_next()), "c");

  transport->last().end();
  EXPECT_FALSE(watch->poll_next());
  EXPECT_TRUE(watch->has_ended());
  EXPECT_TRUE(transport->last().canceled) << "its connection is free";
}

// RC-74
TEST_F(PolledResourceTest, AWatchThatCannotBeDecodedEndsWithAnError) {
  const auto watch = open_watch();
  transport->last().send(event_of("ADDED", pod_json("a")) + "{nonsense}\n");
  EXPECT_EQ(name_of(watch->poll_next()), "a");
  const auto error = watch->poll_next();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, EventType::kError);
  EXPECT_EQ(error->status->code, 500);
  EXPECT_FALSE(watch->poll_next());
  EXPECT_TRUE(watch->has_ended());
}

// RC-74
TEST_F(PolledResourceTest, AWatchWhoseConnectionIsLostEnds) {
  const auto watch = open_watch();
  transport->last().fail(Kind::kConnectionLost);
  EXPECT_FALSE(watch->poll_next());
  EXPECT_TRUE(watch->has_ended());
}

// RC-74
TEST_F(PolledResourceTest, AWatchThatIsRefusedFailsToOpen) {
  const auto watch = pods().start_watch({}, poller());
  EXPECT_EQ(watch->poll_open(), Poll::kPending);
  transport->last().answer(410);
  transport->last().send(status_json(410, "Expired"));
  transport->last().end();
  EXPECT_TRUE(is_resource_expired(api_error([&] { (void)watch->poll_open(); })));
}

// RC-74: like the blocking form, for servers that are temporarily unreachable.
TEST_F(PolledResourceTest, AWatchThatCouldNotBeOpenedForTransientReasonsHasEnded) {
  scripted.options.max_retries = 0;
  const auto watch = pods().start_watch({}, poller());
  EXPECT_EQ(watch->poll_open(), Poll::kPending);
  transport->last().fail(Kind::kConnectionLost);
  EXPECT_EQ(watch->poll_open(), Poll::kReady);
  EXPECT_TRUE(watch->has_ended());
  EXPECT_FALSE(watch->poll_next());
}

// RC-76
TEST_F(PolledResourceTest, AWatchThatIsNotPolledReadsNothing) {
  const auto watch = open_watch();
  for (int i = 0; i < 10; ++i) transport->last().send(event_of("ADDED", pod_json("a")));
  EXPECT_EQ(transport->last().reads, 0);
  EXPECT_TRUE(watch->poll_next());
  EXPECT_EQ(transport->last().reads, 1);
}

// RC-72, RC-74
TEST_F(PolledResourceTest, AWatchAboveTheBudgetWaitsAndThenEndsWithAnError) {
  scripted.options.max_buffered_bytes = kBudget;
  auto watch = open_watch();
  ByteAccount other{rest().budget(), scripted.clock, "another"};
  other.hold(100'000);
  const std::string event = event_of("ADDED", large_pod("big", 90'000));
  transport->last().send(event.substr(0, 80'000));
  EXPECT_FALSE(watch->poll_next());
  EXPECT_EQ(watch->wake_at() - scripted.clock.now(), 5s);
  transport->last().send(event.substr(80'000));
  EXPECT_FALSE(watch->poll_next());
  (void)waker->take();
  other.hold(0);
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(name_of(watch->poll_next()), "big");
  EXPECT_EQ(watch->wake_at(), kNever);

  other.hold(100'000);
  transport->last().send(event.substr(0, 80'000));
  EXPECT_FALSE(watch->poll_next());
  scripted.clock.advance(5s);
  const auto error = watch->poll_next();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, EventType::kError);
  EXPECT_THAT(error->status->message.str(), HasSubstr("budget of 131072 bytes"));
  EXPECT_TRUE(watch->has_ended());
}

// RC-74: before it is open, while it is open, and with decoded events.
TEST_F(PolledResourceTest, AWatchThatIsDestroyedIsCanceled) {
  auto opening = pods().start_watch({}, poller());
  EXPECT_EQ(opening->poll_open(), Poll::kPending);
  opening.reset();
  EXPECT_TRUE(transport->last().canceled);

  auto watch = open_watch();
  transport->last().send(event_of("ADDED", pod_json("a")) + event_of("ADDED", pod_json("b")));
  EXPECT_EQ(name_of(watch->poll_next()), "a");
  watch.reset();
  EXPECT_TRUE(transport->last().canceled);
  EXPECT_EQ(rest().budget()->used(), 0U);
}

// RC-75
TEST_F(PolledResourceTest, ListsAndWatchesThroughATransportOfTheProgram) {
  scripted.options.transport = scripted.transport;
  scripted.transport->answer(FakeAnswer::json(list_of({pod_json("a")})));
  scripted.transport->answer(FakeAnswer::json(event_of("ADDED", pod_json("b"))));
  const auto operation = list();
  int turns = 0;
  while (poll(*operation) == Poll::kPending && ++turns < 10) run_workers();
  EXPECT_THAT(names, ElementsAre("a"));
  EXPECT_EQ(turns, 3) << "one to open it, one to read it, one for its end";

  const auto watch = pods().start_watch({}, poller());
  EXPECT_EQ(watch->poll_open(), Poll::kPending);
  run_workers();
  EXPECT_EQ(watch->poll_open(), Poll::kReady);
  EXPECT_FALSE(watch->poll_next());
  run_workers();
  EXPECT_EQ(name_of(watch->poll_next()), "b");
}

}  // namespace
}  // namespace kube::test
