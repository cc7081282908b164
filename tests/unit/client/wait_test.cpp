// SPDX-License-Identifier: Apache-2.0
// Waiting for a state of an object, with a server that the test plays itself.
#include <kube/api/core/v1.hpp>
#include <kube/client/wait.hpp>
#include <kube/codec/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async_fixture.hpp"

namespace kube::test {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using testing::HasSubstr;
using testing::Not;
using Kind = TransportError::Kind;

std::string pod_in_phase(const std::string& phase, const std::string& version,
                         const std::string& uid = "u1") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop",)"
         R"("uid":")" +
         uid + R"(","resourceVersion":")" + version +
         R"("},)"
         R"("spec":{"nodeName":"hidden-node"},"status":{"phase":")" +
         phase +
         R"(","conditions":)"
         R"([{"type":"Ready","status":"False","reason":"Starting","message":"soon"}]}})";
}
std::string list_of(const std::string& items, const std::string& version) {
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
         R"("},"items":[)" + items + "]}";
}
std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
bool is_running(const Pod& pod) { return pod.status.phase == "Running"; }

struct WaitTest : AsyncTest {
  /// Starts a wait of 60 s for a running pod.
  auto wait_for_running(std::stop_token stop = {}) {
    return start(wait_until_async(pods, "web-0", is_running, 60s), std::move(stop));
  }
  /// Answers the list with these items; the wait then opens its watch.
  void answer_list(const std::string& items, const std::string& version = "5") {
    answer(transport->last(), 200, list_of(items, version));
  }
  void open_watch() {
    transport->last().answer(200);
    run_ready();
  }
  void send(const std::string& bytes) {
    transport->last().send(bytes);
    run_ready();
  }
  /// Lets the pause before the next attempt pass.
  void pass_pause() {
    scripted.clock.advance(6s);
    run_ready();
  }
  [[nodiscard]] const std::string& target() const { return transport->last().request.target; }

  Client client{scripted.config, scripted.options};
  Resource<Pod> pods = client.resource<Pod>("shop");
};

// WU-1
TEST_F(WaitTest, ReturnsTheFirstStateThatIsAwaited) {
  const auto got = wait_for_running();
  EXPECT_THAT(target(), HasSubstr("/api/v1/namespaces/shop/pods?"));
  EXPECT_THAT(target(), HasSubstr("fieldSelector=metadata.name%3Dweb-0"));
  EXPECT_THAT(target(), Not(HasSubstr("resourceVersion"))) << "the newest state";
  answer_list(pod_in_phase("Pending", "4"));
  EXPECT_THAT(target(), HasSubstr("watch=true"));
  EXPECT_THAT(target(), HasSubstr("fieldSelector=metadata.name%3Dweb-0"));
  EXPECT_THAT(target(), HasSubstr("resourceVersion=5"));
  open_watch();
  send(event("MODIFIED", pod_in_phase("Pending", "6")));
  EXPECT_FALSE(got->has_ended());
  send(event("MODIFIED", pod_in_phase("Running", "7")) +
       event("MODIFIED", pod_in_phase("Failed", "8")));
  ASSERT_TRUE(got->value) << got->error;
  EXPECT_EQ((*got->value)->metadata.resource_version, "7");
  EXPECT_EQ(transport->size(), 2U);
}

// WU-1
TEST_F(WaitTest, WaitsForAnObjectThatDoesNotExistYet) {
  const auto got = wait_for_running();
  answer_list("");
  open_watch();
  send(event("ADDED", pod_in_phase("Running", "6")));
  EXPECT_TRUE(got->value) << got->error;
}

// WU-2
TEST_F(WaitTest, OpensTheNextWatchAfterTheLastEventOrBookmark) {
  const auto got = wait_for_running();
  answer_list(pod_in_phase("Pending", "4"));
  open_watch();
  send(event("MODIFIED", pod_in_phase("Pending", "6")) + event("BOOKMARK", pod_in_phase("", "9")));
  transport->last().end();
  run_ready();
  EXPECT_EQ(transport->size(), 2U) << "not without a pause";
  pass_pause();
  ASSERT_EQ(transport->size(), 3U);
  EXPECT_THAT(target(), HasSubstr("watch=true"));
  EXPECT_THAT(target(), HasSubstr("resourceVersion=9"));
  transport->last().fail(Kind::kConnectionLost);
  run_ready();
  pass_pause();
  ASSERT_EQ(transport->size(), 4U);
  EXPECT_THAT(target(), HasSubstr("resourceVersion=9"));
  open_watch();
  send(event("MODIFIED", pod_in_phase("Running", "10")));
  EXPECT_TRUE(got->value) << got->error;
}

// WU-2: as an event, and as the answer to the request.
TEST_F(WaitTest, ListsAgainAfterTheVersionHasExpired) {
  for (const bool as_event : {true, false}) {
    const auto got = wait_for_running();
    answer_list(pod_in_phase("Pending", "4"));
    if (as_event) {
      open_watch();
      send(event("ERROR", status_json(410, "Expired", "too old resource version")));
    } else {
      answer(transport->last(), 410, status_json(410, "Expired", "too old resource version"));
    }
    pass_pause();
    EXPECT_THAT(target(), Not(HasSubstr("watch=true")));
    answer_list(pod_in_phase("Running", "90"), "99");
    EXPECT_TRUE(got->value) << got->error;
  }
}

// WU-2
TEST_F(WaitTest, TriesAgainAfterErrorsThatMayPass) {
  const auto got = wait_for_running();
  answer(transport->last(), 404, "404 page not found");  // the kind is not served yet
  pass_pause();
  answer(transport->last(), 500, status_json(500, "InternalError"));
  pass_pause();
  transport->last().fail(Kind::kConnect);
  run_ready();
  pass_pause();
  answer_list(pod_in_phase("Running", "4"));
  EXPECT_TRUE(got->value) << got->error;
}

// WU-2
TEST_F(WaitTest, EndsWithErrorsThatCannotPass) {
  for (const auto& [code, reason] : {std::pair{400, "BadRequest"},
                                     {401, "Unauthorized"},
                                     {403, "Forbidden"},
                                     {405, "MethodNotAllowed"},
                                     {422, "Invalid"}}) {
    const auto got = wait_for_running();
    answer(transport->last(), code, status_json(code, reason, "refused"));
    EXPECT_EQ(got->error, "refused") << code;
  }
}

// WU-3
TEST_F(WaitTest, TellsTheLastStateWhenTheTimeIsUp) {
  const auto got = wait_for_running();
  answer_list(pod_in_phase("Pending", "4"));
  open_watch();
  scripted.clock.advance(59s);
  run_ready();
  EXPECT_FALSE(got->has_ended());
  scripted.clock.advance(1s);
  run_ready();
  EXPECT_EQ(got->error,
            "pods shop/web-0: the awaited state was not seen within 60 s; last state: phase "
            "Pending; Ready=False (Starting: soon)");
  EXPECT_TRUE(transport->last().canceled);
}

// WU-3
TEST_F(WaitTest, TellsThatTheObjectDoesNotExist) {
  const auto got = wait_for_running();
  answer_list(pod_in_phase("Pending", "4"));
  open_watch();
  send(event("DELETED", pod_in_phase("Pending", "6")));
  scripted.clock.advance(60s);
  run_ready();
  EXPECT_THAT(got->error, HasSubstr("last state: does not exist"));
}

// WU-3
TEST_F(WaitTest, TellsTheLastProblemAndKeepsTheLastState) {
  const auto unknown = wait_for_running();
  answer(transport->last(), 500, status_json(500, "InternalError", "the disk is full"));
  scripted.clock.advance(60s);
  run_ready();
  EXPECT_THAT(unknown->error, HasSubstr("last state: unknown; last problem: the disk is full"));

  const auto known = wait_for_running();
  answer_list(pod_in_phase("Pending", "4"));
  answer(transport->last(), 500, status_json(500, "InternalError", "the disk is full"));
  scripted.clock.advance(60s);
  run_ready();
  EXPECT_THAT(known->error, HasSubstr("phase Pending"));
  EXPECT_THAT(known->error, HasSubstr("the disk is full"));
}

// WU-3
TEST_F(WaitTest, ShowsNoOtherFields) {
  const auto got = start(wait_until_async(
      client.dynamic({"", "v1", "secrets"}, "shop"), "token", [](const Value&) { return false; },
      60s));
  answer(transport->last(), 200,
         R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)"
         R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"token","resourceVersion":"4",)"
         R"("annotations":{"a":"c2VjcmV0"}},"data":{"key":"c2VjcmV0"},)"
         R"("stringData":{"k":"secret"}}]})");
  scripted.clock.advance(60s);
  run_ready();
  EXPECT_THAT(got->error, HasSubstr("last state: exists, without phase and conditions"));
  EXPECT_THAT(got->error, Not(HasSubstr("ecret\"")));
  EXPECT_THAT(got->error, Not(HasSubstr("c2VjcmV0")));
}

// WU-3
TEST_F(WaitTest, DescribesAPendingDeletionAndAnOutdatedStatus) {
  const auto got = start(wait_until_async(
      client.dynamic({"apps", "v1", "deployments"}, "shop"), "web",
      [](const Value&) { return false; }, 1s));
  answer(transport->last(), 200,
         R"({"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"5"},)"
         R"("items":[{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web",)"
         R"("generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z",)"
         R"("finalizers":["example.com/a","example.com/b"]},)"
         R"("status":{"observedGeneration":2,)"
         R"("conditions":[{"type":"Bad","status":"True\u001b[0m"}]}}]})");
  scripted.clock.advance(1s);
  run_ready();
  EXPECT_THAT(got->error, HasSubstr("deployments.apps shop/web: "));
  EXPECT_THAT(got->error,
              HasSubstr("being deleted, waits for finalizers example.com/a, example.com/b; its "
                        "status is of generation 2 instead of 3; Bad=True\\x1b[0m"));
}

// WU-6
TEST_F(WaitTest, EndsAsCanceledAfterAStop) {
  std::stop_source stop;
  const auto got = wait_for_running(stop.get_token());
  answer_list("");
  open_watch();
  stop.request_stop();
  run_ready();
  EXPECT_EQ(got->error, "pods shop/web-0: waiting for the awaited state was canceled");
  EXPECT_TRUE(transport->last().canceled);

  const auto late = wait_for_running(stop.get_token());
  EXPECT_EQ(late->error, got->error);
  EXPECT_EQ(transport->size(), 2U) << "nothing is sent after a stop";
}

// WU-6: an ApiError of the predicate is not taken for one of the server.
TEST_F(WaitTest, PassesOnWhatThePredicateThrows) {
  const auto got = start(wait_until_async(
      pods, "web-0",
      [](const Pod&) -> bool {
        throw ApiError{503, "of the predicate"};
      },
      60s));
  answer_list(pod_in_phase("Pending", "4"));
  EXPECT_EQ(got->error, "of the predicate");
}

// WU-6
TEST_F(WaitTest, RefusesInvalidArguments) {
  EXPECT_THROW((void)wait_until_async(pods, "", is_running, 1s), std::invalid_argument);
  EXPECT_THROW((void)wait_until(pods, "", is_running, 1s), std::invalid_argument);
  EXPECT_THROW((void)wait_until_async(client.resource<Pod>(), "web-0", is_running, 1s),
               std::invalid_argument)
      << "a namespace is missing";
  for (const std::string_view condition : {"", "=True", "Ready="}) {
    EXPECT_THROW((void)wait_for_condition_async(pods, "web-0", condition, 1s),
                 std::invalid_argument)
        << condition;
  }
}

// WU-7
TEST_F(WaitTest, SendsNothingAndDoesNotCountTheTimeBeforeItIsAwaited) {
  auto task = wait_until_async(pods, "web-0", is_running, 60s);
  scripted.clock.advance(1h);
  run_ready();
  EXPECT_EQ(transport->size(), 0U);
  const auto got = start(std::move(task));
  answer_list(pod_in_phase("Running", "4"));
  EXPECT_TRUE(got->value) << got->error;
}

// WU-5
TEST_F(WaitTest, WaitsForADeletion) {
  const auto gone = start(and_true(wait_for_deletion_async(pods, "web-0", 60s)));
  answer_list("");
  EXPECT_TRUE(gone->value) << gone->error;

  const auto deleted = start(and_true(wait_for_deletion_async(pods, "web-0", 60s)));
  answer_list(pod_in_phase("Running", "4"));
  open_watch();
  send(event("MODIFIED", pod_in_phase("Succeeded", "6")));
  EXPECT_FALSE(deleted->has_ended());
  send(event("DELETED", pod_in_phase("Succeeded", "7")));
  EXPECT_TRUE(deleted->value) << deleted->error;
}

// WU-5
TEST_F(WaitTest, TakesAnotherObjectOfTheSameNameForADeletion) {
  const auto seen = start(and_true(wait_for_deletion_async(pods, "web-0", 60s)));
  answer_list(pod_in_phase("Running", "4"));
  answer(transport->last(), 410, status_json(410, "Expired"));
  pass_pause();
  answer_list(pod_in_phase("Running", "9", "u2"));
  EXPECT_TRUE(seen->value) << seen->error;

  const auto known = start(and_true(wait_for_deletion_async(pods, "web-0", 60s, "u1")));
  answer_list(pod_in_phase("Running", "9", "u2"));
  EXPECT_TRUE(known->value) << known->error;
}

// WU-4
TEST(WantedCondition, CountsOnlyForTheCurrentGeneration) {
  struct Case {
    std::string_view object;
    std::string_view condition;
    bool is_met;
  };
  const std::vector<Case> cases{
      {R"({})", "Ready", false},
      {R"({"status":{"conditions":"none"}})", "Ready", false},
      {R"({"status":{"conditions":[7,{"type":"Ready","status":"True"}]}})", "Ready", true},
      {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "Ready=True", true},
      {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "Ready=False", false},
      {R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})", "Ready=False", true},
      {R"({"status":{"conditions":[{"type":"Other","status":"True"}]}})", "Ready", false},
      {R"({"metadata":{"generation":2},"status":{)"
       R"("conditions":[{"type":"Ready","status":"True"}]}})",
       "Ready", true},
      {R"({"metadata":{"generation":2},"status":{"observedGeneration":1,)"
       R"("conditions":[{"type":"Ready","status":"True"}]}})",
       "Ready", false},
      {R"({"metadata":{"generation":2},"status":{"observedGeneration":2,)"
       R"("conditions":[{"type":"Ready","status":"True"}]}})",
       "Ready", true},
      {R"({"metadata":{"generation":2},"status":{"observedGeneration":1,)"
       R"("conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}})",
       "Ready", true},
      {R"({"metadata":{"generation":2},"status":{"observedGeneration":2,)"
       R"("conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}})",
       "Ready", false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(detail::WantedCondition{one.condition}.is_met_by(*decode_json<Value>(one.object)),
              one.is_met)
        << one.object << " " << one.condition;
  }
}

}  // namespace
}  // namespace kube::test
