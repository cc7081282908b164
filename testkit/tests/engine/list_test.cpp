// SPDX-License-Identifier: Apache-2.0
// The verbs get and list: versions, paging, selectors.
#include <gmock/gmock.h>

#include <thread>

#include "engine_fixture.hpp"
#include "testkit/rest/list_options.hpp"

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// RV-1
TEST(Versions, OneCounterIsSharedByAllKinds) {
  Api api;
  const auto first = std::stoull(api.make_config_map("a").version());
  const auto second = std::stoull(api.make_pod("p").version());
  const ApiReply list = api.get("/api/v1/secrets");

  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(list.version(), std::to_string(second));
  EXPECT_EQ(list.text().find("\"items\":[]") != std::string::npos, true);  // CT-7
}

// RV-3, RV-7
TEST(Versions, GetTreatsVersionsAsMinimum) {
  Api api;
  const std::string version = api.make_config_map("a").version();

  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").status(), 200);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a?resourceVersion=0").status(), 200);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a?resourceVersion=" + version).status(), 200);

  const ApiReply malformed = api.get(std::string{kConfigMaps} + "/a?resourceVersion=x");
  EXPECT_EQ(malformed.status(), 500);
  EXPECT_EQ(malformed.reason(), "");
  EXPECT_THAT(malformed.message(), HasSubstr("resourceVersion"));
  const ApiReply list = api.get(std::string{kConfigMaps} + "?resourceVersion=x");
  EXPECT_EQ(list.status(), 400);
  EXPECT_THAT(list.message(), HasSubstr("invalid resource version"));
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?watch=1&resourceVersion=x").status(), 500);
}

// RV-8
TEST(Versions, FutureVersionIsAwaitedForThreeSeconds) {
  Api api;
  const std::uint64_t now = api.engine.revision();
  ApiReply reply{};
  std::jthread asking{[&] {
    reply = api.get(std::string{kConfigMaps} + "?resourceVersion=" + std::to_string(now + 5));
  }};
  ASSERT_TRUE(api.clock.wait_for_sleepers(2));  // the request and the engine's own thread
  api.clock.advance(3s);
  asking.join();

  EXPECT_EQ(reply.status(), 504);
  EXPECT_EQ(reply.reason(), "Timeout");
  EXPECT_EQ(reply.message(), "Timeout: Too large resource version: " + std::to_string(now + 5) +
                                 ", current: " + std::to_string(now));
  EXPECT_EQ(reply.at("details.causes[0].reason"), "ResourceVersionTooLarge");
  EXPECT_EQ(reply.at("details.retryAfterSeconds"), "1");
  EXPECT_EQ(reply.header("Retry-After"), "1");
}

// RV-8
TEST(Versions, FutureVersionMayArriveInTime) {
  Api api;
  const std::uint64_t now = api.engine.revision();
  ApiReply reply{};
  std::jthread asking{[&] {
    reply = api.get(std::string{kConfigMaps} + "?resourceVersion=" + std::to_string(now + 1));
  }};
  ASSERT_TRUE(api.clock.wait_for_sleepers(2));
  api.make_config_map("a");
  asking.join();

  EXPECT_EQ(reply.status(), 200);
  EXPECT_THAT(reply.names(), ElementsAre("a"));
}

// RQ-8
TEST(Versions, TimeoutParameterShortensTheWait) {
  Api api;
  ApiReply reply{};
  std::jthread asking{
      [&] { reply = api.get(std::string{kConfigMaps} + "?resourceVersion=99999&timeout=1s"); }};
  ASSERT_TRUE(api.clock.wait_for_sleepers(2));
  api.clock.advance(1s);
  asking.join();

  EXPECT_EQ(reply.status(), 504);
  EXPECT_EQ(reply.header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(
      reply.text(),
      R"({"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504})");
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?timeout=5").status(), 400);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?timeout=-5s").status(), 200);
}

struct MatchCase {
  const char* query;
  int status;
};
void PrintTo(const MatchCase& match, std::ostream* out) { *out << match.query; }
class MatchRules : public testing::TestWithParam<MatchCase> {};

// RV-4, RV-6
TEST_P(MatchRules, Hold) {
  Api api;
  for (const char* name : {"a", "b", "c"}) api.make_config_map(name);
  const std::string version = std::to_string(api.engine.revision());
  const std::string token = ContinueToken{std::stoll(version), std::string{"a\0", 2}}.encode();
  std::string query = GetParam().query;
  for (const auto& [from, to] : {std::pair{"<N>", version}, std::pair{"<T>", token}}) {
    if (const auto at = query.find(from); at != std::string::npos) query.replace(at, 3, to);
  }

  const ApiReply reply = api.get(std::string{kConfigMaps} + "?" + query);

  EXPECT_EQ(reply.status(), GetParam().status) << reply.text();
  if (reply.status() == 422) {
    EXPECT_EQ(reply.reason(), "Invalid");
    EXPECT_EQ(reply.at("details.kind"), "ListOptions");
    EXPECT_EQ(reply.at("details.group"), "meta.k8s.io");
    EXPECT_EQ(reply.at("details.causes[0].field"), query.find("sendInitial") != std::string::npos
                                                       ? "sendInitialEvents"
                                                       : "resourceVersionMatch");
  }
}
INSTANTIATE_TEST_SUITE_P(
    Lists, MatchRules,
    testing::Values(MatchCase{"resourceVersionMatch=Exact", 422},
                    MatchCase{"resourceVersionMatch=Exact&resourceVersion=0", 422},
                    MatchCase{"resourceVersionMatch=Exact&resourceVersion=<N>", 200},
                    MatchCase{"resourceVersionMatch=NotOlderThan", 422},
                    MatchCase{"resourceVersionMatch=NotOlderThan&resourceVersion=0", 200},
                    MatchCase{"resourceVersionMatch=NotOlderThan&resourceVersion=<N>", 200},
                    MatchCase{"resourceVersionMatch=Sometimes&resourceVersion=<N>", 422},
                    MatchCase{"resourceVersionMatch=Exact&resourceVersion=<N>&continue=<T>", 422},
                    MatchCase{"continue=<T>", 200},
                    MatchCase{"continue=<T>&resourceVersion=0", 200},
                    MatchCase{"continue=<T>&resourceVersion=<N>", 400},
                    MatchCase{"sendInitialEvents=true", 422}, MatchCase{"limit=x", 400}));

// PG-1, PG-2, PG-3, PG-7
TEST(Paging, ReturnsAConsistentSnapshot) {
  Api api;
  for (const char* name : {"a", "b", "c", "d", "e"}) api.make_config_map(name);
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=2");
  EXPECT_THAT(first.names(), ElementsAre("a", "b"));
  EXPECT_EQ(first.at("metadata.remainingItemCount"), "3");

  api.make_config_map("bb");
  api.remove(std::string{kConfigMaps} + "/d");
  api.patch(std::string{kConfigMaps} + "/c", R"({"data":{"a":"2"}})");

  const ApiReply second =
      api.get(std::string{kConfigMaps} + "?limit=2&continue=" + first.at("metadata.continue"));
  EXPECT_THAT(second.names(), ElementsAre("c", "d"));
  EXPECT_EQ(second.at("items[0].data.a"), "1");
  EXPECT_EQ(second.version(), first.version());
  const ApiReply third =
      api.get(std::string{kConfigMaps} + "?limit=2&continue=" + second.at("metadata.continue"));
  EXPECT_THAT(third.names(), ElementsAre("e"));
  EXPECT_EQ(third.at("metadata.continue"), "");
  EXPECT_EQ(third.at("metadata.remainingItemCount"), "");
}

// RV-5, PG-5
TEST(Paging, VersionZeroIgnoresTheLimit) {
  Api api;
  for (const char* name : {"a", "b", "c"}) api.make_config_map(name);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?limit=1&resourceVersion=0").names().size(), 3U);
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=1");
  const ApiReply rest = api.get(std::string{kConfigMaps} + "?limit=1&resourceVersion=0&continue=" +
                                first.at("metadata.continue"));
  EXPECT_THAT(rest.names(), ElementsAre("b", "c"));

  // The legacy case: a limit and a version without a match is exact.
  const std::string then = std::to_string(api.engine.revision());
  api.make_config_map("d");
  const ApiReply exact = api.get(std::string{kConfigMaps} + "?limit=10&resourceVersion=" + then);
  EXPECT_THAT(exact.names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(exact.version(), then);
}

// RV-5
TEST(Paging, ListOfOneNameTreatsTheVersionAsMinimumDespiteALimit) {
  Api api;
  api.make_config_map("a");
  const std::string then = std::to_string(api.engine.revision());
  api.patch(std::string{kConfigMaps} + "/a", R"({"data":{"a":"2"}})");
  const std::string now = std::to_string(api.engine.revision());
  const std::string one = "?fieldSelector=metadata.name=a&limit=1&resourceVersion=" + then;

  const ApiReply list = api.get(std::string{kConfigMaps} + one);
  EXPECT_EQ(list.at("items[0].data.a"), "2");
  EXPECT_EQ(list.version(), now);
  const ApiReply exact = api.get(std::string{kConfigMaps} + one + "&resourceVersionMatch=Exact");
  EXPECT_EQ(exact.at("items[0].data.a"), "1");
  // Across all namespaces it is a search, which is exact.
  const ApiReply everywhere = api.get("/api/v1/configmaps" + one);
  EXPECT_EQ(everywhere.at("items[0].data.a"), "1");
  EXPECT_EQ(everywhere.version(), then);
}

// PG-1, PG-5
TEST(Paging, ContinuesAfterANameIfMoreRemain) {
  Api api;
  for (const char* name : {"a", "b", "c"}) api.make_config_map(name);
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=1");

  const ApiReply list =
      api.get(std::string{kConfigMaps} + "?fieldSelector=metadata.name=b&limit=1" +
              "&continue=" + first.at("metadata.continue"));

  EXPECT_THAT(list.names(), ElementsAre("b"));
  EXPECT_NE(list.at("metadata.continue"), "");
}

// PG-2
TEST(Paging, OrdersByWholeKeys) {
  Api api;
  for (const char* name : {"a", "a-x"}) {
    api.post("/api/v1/namespaces", R"({"metadata":{"name":")" + std::string{name} + "\"}}");
    api.make_config_map("m", name);
  }
  const ApiReply list = api.get("/api/v1/configmaps");
  EXPECT_EQ(list.at("items[0].metadata.namespace"), "a-x");
  EXPECT_EQ(list.at("items[1].metadata.namespace"), "a");
}

// PG-3
TEST(Paging, SelectorsHideTheRemainingCount) {
  Api api;
  for (const char* name : {"a", "b", "c", "d"}) {
    api.make_config_map(name, "default", name[0] == 'b' ? "{}" : R"({"k":"v"})");
  }
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=2&labelSelector=k%3Dv");
  EXPECT_THAT(first.names(), ElementsAre("a", "c"));
  EXPECT_EQ(first.at("metadata.remainingItemCount"), "");
  EXPECT_NE(first.at("metadata.continue"), "");
  const ApiReply second =
      api.get(std::string{kConfigMaps} +
              "?limit=2&labelSelector=k%3Dv&continue=" + first.at("metadata.continue"));
  EXPECT_THAT(second.names(), ElementsAre("d"));
  EXPECT_EQ(second.at("metadata.continue"), "");
}

// PG-4
TEST(Paging, TokensAreChecked) {
  Api api;
  for (const char* name : {"a", "b"}) api.make_config_map(name);
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=1");
  const ContinueToken token = ContinueToken::decode(first.at("metadata.continue"));
  EXPECT_EQ(std::to_string(token.revision), first.version());
  EXPECT_EQ(token.start, (std::string{"a\0", 2}));

  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?continue=" + token.encode(false)).status(), 200);
  for (const std::string& bad :
       {std::string{"!!!"}, std::string{"e30"}, ContinueToken{0, "a"}.encode(),
        ContinueToken{5, "../a"}.encode(), ContinueToken{5, ""}.encode()}) {
    const ApiReply reply = api.get(std::string{kConfigMaps} + "?continue=" + bad);
    EXPECT_EQ(reply.status(), 400) << bad;
    EXPECT_THAT(reply.message(), HasSubstr("invalid continue token"));
  }
}

// RV-9, PG-6
TEST(Paging, CompactedVersionsAreExpired) {
  Api api;
  for (const char* name : {"a", "b", "c"}) api.make_config_map(name);
  const ApiReply first = api.get(std::string{kConfigMaps} + "?limit=1");
  api.make_config_map("d");
  api.engine.compact();

  const ApiReply exact = api.get(std::string{kConfigMaps} +
                                 "?resourceVersionMatch=Exact&resourceVersion=" + first.version());
  EXPECT_EQ(exact.status(), 410);
  EXPECT_EQ(exact.reason(), "Expired");
  EXPECT_EQ(exact.message(), "The resourceVersion for the provided list is too old.");

  const ApiReply second =
      api.get(std::string{kConfigMaps} + "?limit=1&continue=" + first.at("metadata.continue"));
  EXPECT_EQ(second.status(), 410);
  EXPECT_THAT(second.message(), testing::StartsWith("The provided continue parameter is too old to "
                                                    "display a consistent list result."));
  const ApiReply go_on =
      api.get(std::string{kConfigMaps} + "?limit=2&continue=" + second.at("metadata.continue"));
  EXPECT_THAT(go_on.names(), ElementsAre("b", "c"));
  EXPECT_EQ(go_on.version(), std::to_string(api.engine.revision()));
  EXPECT_EQ(ContinueToken::decode(go_on.at("metadata.continue")).revision,
            static_cast<std::int64_t>(api.engine.revision()));
}

// RV-9
TEST(History, IsKeptForAtLeastFiveMinutes) {
  Api api;
  const std::string then = api.make_config_map("a").version();
  for (int i = 0; i < 200; ++i) api.make_config_map("x" + std::to_string(i));
  const std::string query =
      std::string{kConfigMaps} + "?resourceVersionMatch=Exact&resourceVersion=" + then;
  const auto pass = [&](std::chrono::seconds time) {
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
    api.clock.advance(time);
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  };
  pass(5min);
  EXPECT_THAT(api.get(query).names(), ElementsAre("a"));
  pass(5min);
  EXPECT_EQ(api.get(query).status(), 410);
}

// SL-1, SL-2
TEST(LabelSelectors, AllForms) {
  Api api;
  api.make_config_map("a", "default", R"({"k":"v","n":"5"})");
  api.make_config_map("b", "default", R"({"k":"w"})");
  api.make_config_map("c");
  const auto names = [&](const std::string& selector) {
    return api.get(std::string{kConfigMaps} + "?labelSelector=" + selector).names();
  };
  EXPECT_THAT(names("k"), ElementsAre("a", "b"));
  EXPECT_THAT(names("!k"), ElementsAre("c"));
  EXPECT_THAT(names("k%3D%3Dv"), ElementsAre("a"));
  EXPECT_THAT(names("k!%3Dv"), ElementsAre("b", "c"));
  EXPECT_THAT(names("k+in+(v,w),n"), ElementsAre("a"));
  EXPECT_THAT(names("k%20notin%20(v)"), ElementsAre("b", "c"));
  EXPECT_THAT(names("n%3E4"), ElementsAre("a"));
  EXPECT_THAT(names("n%3C4"), IsEmpty());
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?labelSelector=k%3D%3D%3D").status(), 400);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?labelSelector=-k").status(), 400);
}

// SL-3, SL-4, SL-5
TEST(FieldSelectors, SupportTheFieldsOfTheirKind) {
  Api api;
  api.make_pod("on", R"("nodeName":"n1",)");
  api.make_pod("off");
  const auto names = [&](const std::string& selector) {
    return api.get("/api/v1/pods?fieldSelector=" + selector).names();
  };
  EXPECT_THAT(names("spec.nodeName%3Dn1"), ElementsAre("on"));
  EXPECT_THAT(names("spec.host%3Dn1"), ElementsAre("on"));
  EXPECT_THAT(names("spec.nodeName%3D"), ElementsAre("off"));
  EXPECT_THAT(names("spec.nodeName!%3Dn1,status.phase%3DPending"), ElementsAre("off"));
  EXPECT_THAT(names("spec.hostNetwork%3Dfalse").size(), 2U);
  EXPECT_THAT(names("metadata.name%3Don"), ElementsAre("on"));
  EXPECT_THAT(names("metadata.namespace%3Dother"), IsEmpty());
  EXPECT_THAT(names("status.podIPs%3D").size(), 2U);

  const ApiReply unknown = api.get("/api/v1/pods?fieldSelector=spec.x%3D1");
  EXPECT_EQ(unknown.status(), 400);
  EXPECT_EQ(unknown.message(), "field label not supported: spec.x");
  const ApiReply none = api.get("/api/v1/configmaps?fieldSelector=data%3D1");
  EXPECT_EQ(none.status(), 400);
  EXPECT_EQ(
      none.message(),
      "\"data\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  EXPECT_EQ(api.get("/api/v1/pods?fieldSelector=spec.nodeName%3Da%3Db").status(), 400);
  EXPECT_EQ(api.get("/api/v1/namespaces?fieldSelector=data%3D1").message(),
            "field label not supported: data");
  EXPECT_EQ(api.get("/apis/batch/v1/jobs?fieldSelector=data%3D1").message(),
            "field label \"data\" not supported for Job");
  EXPECT_EQ(api.get("/apis/resource.k8s.io/v1/resourceslices?fieldSelector=data%3D1").message(),
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: data");
}

// SL-6
TEST(FieldSelectors, FindEventsByTheirSource) {
  Api api;
  const std::string events = "/api/v1/namespaces/default/events";
  api.post(events,
           R"({"metadata":{"name":"old"},"involvedObject":{},"source":{"component":"kubelet"}})");
  api.post(events,
           R"({"metadata":{"name":"new"},"involvedObject":{},"reportingComponent":"scheduler"})");

  EXPECT_THAT(api.get(events + "?fieldSelector=source%3Dkubelet").names(), ElementsAre("old"));
  EXPECT_THAT(api.get(events + "?fieldSelector=source%3Dscheduler").names(), ElementsAre("new"));
}

}  // namespace
}  // namespace kube::testkit::detail
