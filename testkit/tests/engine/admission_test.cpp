// SPDX-License-Identifier: Apache-2.0
// Rules of single kinds: leases, events, pods, services, autoscalers.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr const char* kEvents = "/api/v1/namespaces/default/events";
constexpr const char* kNewEvents = "/apis/events.k8s.io/v1/namespaces/default/events";

// BK-2
TEST(Leases, AreChecked) {
  Api api;
  const auto status = [&](const std::string& spec) {
    return api.post(kLeases, R"({"metadata":{"generateName":"l-"},"spec":{)" + spec + "}}")
        .status();
  };
  EXPECT_EQ(status(R"("leaseDurationSeconds":0)"), 422);
  EXPECT_EQ(status(R"("leaseTransitions":-1)"), 422);
  EXPECT_EQ(status(R"("holderIdentity":"")"), 201);
  EXPECT_EQ(status(R"("renewTime":"2026-01-01T00:00:00.123456Z")"), 201);
  EXPECT_EQ(status(R"("renewTime":"2026-01-01T00:00:00Z")"), 400);
}

// BK-3
TEST(Events, AreStoredOnceAndServedInTwoGroups) {
  Api api;
  const ApiReply made = api.post(
      kEvents,
      R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},)"
      R"("reason":"Because","message":"text","count":3,"type":"Normal","source":{"component":"c"}})");
  ASSERT_EQ(made.status(), 201) << made.text();
  const ApiReply other = api.get(std::string{kNewEvents} + "/e");
  EXPECT_EQ(other.at("apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(other.at("regarding.name"), "p");
  EXPECT_EQ(other.at("note"), "text");
  EXPECT_EQ(other.at("deprecatedCount"), "3");
  EXPECT_EQ(other.at("deprecatedSource.component"), "c");
  EXPECT_THAT(api.get("/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp").names(),
              ElementsAre("e"));
  EXPECT_THAT(api.get("/api/v1/events?fieldSelector=involvedObject.name%3Dp,source%3Dc").names(),
              ElementsAre("e"));  // KU-10
  EXPECT_EQ(api.patch(std::string{kNewEvents} + "/e", R"({"note":"more"})").status(), 422);
  EXPECT_EQ(api.patch(std::string{kEvents} + "/e", R"({"message":"more"})").status(), 200);
  EXPECT_EQ(api.get(std::string{kNewEvents} + "/e").at("note"), "more");
}

// BK-3
TEST(Events, AreChecked) {
  Api api;
  const ApiReply elsewhere =
      api.post(kEvents, R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"other"}})");
  EXPECT_EQ(elsewhere.status(), 422);
  EXPECT_EQ(elsewhere.at("details.causes[0].field"), "involvedObject.namespace");
  // The metadata is validated last.
  const ApiReply nameless = api.post(kEvents, R"({"involvedObject":{"namespace":"other"}})");
  EXPECT_EQ(nameless.status(), 422);
  EXPECT_EQ(nameless.at("details.causes[0].field"), "involvedObject.namespace");
  EXPECT_EQ(nameless.at("details.causes[1].field"), "");
  EXPECT_EQ(api.post(kEvents, R"({"metadata":{"name":"n"},"involvedObject":{}})").status(), 201);

  const std::string good =
      R"("eventTime":"2026-01-01T00:00:00.000000Z","type":"Normal","reportingController":"c","reportingInstance":"i","action":"a","reason":"r","regarding":{"namespace":"default"})";
  EXPECT_EQ(
      api.post(kNewEvents, R"({"metadata":{"name":"m"},"eventTime":"2026-01-01T00:00:00.000000Z"})")
          .status(),
      422);
  EXPECT_EQ(
      api.post(
             kNewEvents,
             R"({"metadata":{"name":"s"},"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"},)" +
                 good + "}")
          .status(),
      422);
  EXPECT_EQ(api.post(kNewEvents, R"({"metadata":{"name":"l"},"note":")" + std::string(1025, 'x') +
                                     "\"," + good + "}")
                .status(),
            422);
  const ApiReply made = api.post(kNewEvents, R"({"metadata":{"name":"g"},)" + good + "}");
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(api.patch(std::string{kNewEvents} + "/g", R"({"note":"x"})").status(), 422);
  EXPECT_EQ(api.patch(std::string{kNewEvents} + "/g",
                      R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}})")
                .status(),
            200);
}

// BK-3
TEST(Events, ExpireAnHourAfterTheirLastWrite) {
  Api api;
  const auto pass = [&](std::chrono::seconds time) {
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
    api.clock.advance(time);
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  };
  for (const char* name : {"old", "renewed"}) {
    api.post(kEvents, R"({"metadata":{"name":")" + std::string{name} +
                          R"("},"involvedObject":{"namespace":"default"}})");
  }
  pass(1800s);
  api.patch(std::string{kEvents} + "/renewed", R"({"count":2})");
  WatchReader watch = api.watch(
      std::string{kEvents} + "?watch=1&resourceVersion=" + std::to_string(api.engine.revision()));
  pass(1800s);
  const WatchedEvent gone = watch.next();
  EXPECT_EQ(gone.type, "DELETED");
  EXPECT_EQ(gone.name(), "old");
  EXPECT_THAT(api.get(kEvents).names(), ElementsAre("renewed"));
}

// BK-4, DL-7
TEST(Pods, StartPendingWithDefaults) {
  Api api;
  const ApiReply pod = api.make_pod("p");
  EXPECT_EQ(pod.at("status.phase"), "Pending");
  EXPECT_EQ(pod.at("status.qosClass"), "BestEffort");
  EXPECT_EQ(pod.at("spec.restartPolicy"), "Always");
  EXPECT_EQ(pod.at("spec.terminationGracePeriodSeconds"), "30");
  EXPECT_EQ(pod.at("spec.containers[0].imagePullPolicy"), "Always");
  EXPECT_EQ(pod.at("metadata.generation"), "1");
  EXPECT_EQ(api.patch(std::string{kPods} + "/p", R"({"spec":{"hostNetwork":true}})").status(), 422);
  EXPECT_EQ(
      api.patch(std::string{kPods} + "/p", R"({"spec":{"activeDeadlineSeconds":9}})").status(),
      200);
  EXPECT_EQ(api.post(kPods, R"({"metadata":{"name":"q"},"spec":{}})").status(), 422);
}

// BK-5
TEST(Workloads, AreDefaultedAndChecked) {
  Api api;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const std::string shape =
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})";
  const ApiReply made =
      api.post(path, R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},)" +
                         shape + "}}");
  EXPECT_EQ(made.at("spec.replicas"), "1");
  EXPECT_EQ(made.at("spec.strategy.rollingUpdate.maxSurge"), "25%");
  EXPECT_EQ(made.at("spec.template.spec.containers[0].imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(api.post(path, R"({"metadata":{"name":"e"},"spec":{)" + shape + "}}").status(), 422);
  const ApiReply other =
      api.post(path, R"({"metadata":{"name":"f"},"spec":{"selector":{"matchLabels":{"x":"y"}},)" +
                         shape + "}}");
  EXPECT_THAT(other.message(), HasSubstr("spec.template.metadata.labels: Invalid value"));
}

TEST(Services, HaveASessionAffinityThatExists) {
  Api api;
  const auto service = [](const std::string& affinity) {
    return R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}],"sessionAffinity":")" +
           affinity + "\"}}";
  };
  const ApiReply bad = api.post("/api/v1/namespaces/default/services", service("text"));
  EXPECT_EQ(bad.status(), 422);
  EXPECT_EQ(bad.at("details.causes[0].field"), "spec.sessionAffinity");
  EXPECT_EQ(api.post("/api/v1/namespaces/default/services", service("ClientIP")).status(), 201);
}

TEST(Services, GetAnAddress) {
  Api api;
  const std::string path = "/api/v1/namespaces/default/services";
  const ApiReply made =
      api.post(path, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_THAT(made.at("spec.clusterIP"), testing::StartsWith("10."));
  EXPECT_EQ(made.at("spec.ports[0].targetPort"), "80");
  EXPECT_EQ(api.put(path + "/s",
                    *parse_json(R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":81}]}})"))
                .at("spec.clusterIP"),
            made.at("spec.clusterIP"));
}

TEST(Autoscalers, AreServedInTwoVersions) {
  Api api;
  const std::string v1 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
  const std::string v2 = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const ApiReply made = api.post(
      v1, R"({"metadata":{"name":"h"},"spec":{"maxReplicas":5,"targetCPUUtilizationPercentage":50,)"
          R"("scaleTargetRef":{"kind":"Deployment","name":"d"}}})");
  ASSERT_EQ(made.status(), 201) << made.text();
  const ApiReply other = api.get(v2 + "/h");
  EXPECT_EQ(other.at("spec.metrics[0].resource.target.averageUtilization"), "50");
  EXPECT_EQ(other.at("apiVersion"), "autoscaling/v2");
  EXPECT_EQ(api.get(v1 + "/h").at("spec.targetCPUUtilizationPercentage"), "50");
}

}  // namespace
}  // namespace kube::testkit::detail
