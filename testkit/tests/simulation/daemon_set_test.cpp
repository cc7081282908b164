// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string daemon_set(std::string_view more = "", std::string_view annotations = "{}") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent}}
spec:
  {}
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}, annotations: {}}}
    spec: {{containers: [{{name: agent, image: "agent:1"}}]}}
)",
                     more, annotations);
}

std::string node(std::string_view name, std::string_view more = "{}") {
  return fmt::format(
      "{{apiVersion: v1, kind: Node, metadata: {{name: {}, labels: {{kind: made}}}}, spec: {}}}",
      name, more);
}

constexpr std::string_view kUpdate =
    "spec: {template: {spec: {containers: [{name: agent, image: 'agent:2'}]}}}";

// SM-24
TEST(SimulatedDaemonSet, HasOnePodOnEachNodeEvenIfItIsCordoned) {
  Cluster cluster;
  cluster.apply(node("second"));
  cluster.patch("nodes/second", "spec: {unschedulable: true}");
  cluster.apply(node("tainted", "{taints: [{key: own, effect: NoSchedule}]}"));

  cluster.apply(daemon_set());

  std::set<std::string> nodes;
  for (const Ref<Value>& pod : cluster.list("pods"))
    nodes.insert(Cluster::text(pod, "spec.nodeName"));
  EXPECT_EQ(nodes, (std::set<std::string>{"kubecxx-node", "second"}));
  const Ref<Value> set = cluster.get("daemonsets/agent");
  EXPECT_EQ(Cluster::text(set, "status.desiredNumberScheduled"), "2");
  EXPECT_EQ(Cluster::text(set, "status.currentNumberScheduled"), "2");
  EXPECT_EQ(Cluster::text(set, "status.numberReady"), "2");
  EXPECT_EQ(Cluster::text(set, "status.numberAvailable"), "2");
  EXPECT_EQ(Cluster::text(set, "status.updatedNumberScheduled"), "2");
}

// SM-24
TEST(SimulatedDaemonSet, FollowsAddedAndNoLongerMatchingNodes) {
  Cluster cluster;
  cluster.apply(daemon_set());
  ASSERT_EQ(cluster.list("pods").size(), 1U);

  cluster.apply(node("second"));
  EXPECT_EQ(cluster.list("pods").size(), 2U);
  cluster.patch("nodes/second", "spec: {taints: [{key: own, effect: NoExecute}]}");

  EXPECT_EQ(cluster.list("pods").size(), 1U);
  EXPECT_EQ(cluster.text("daemonsets/agent", "status.desiredNumberScheduled"), "1");
}

// SM-25
TEST(SimulatedDaemonSet, UpdatesNodesOneAfterTheOther) {
  Cluster cluster;
  cluster.apply(node("second"));
  cluster.apply(node("third"));
  cluster.apply(daemon_set("minReadySeconds: 10"));
  cluster.advance(10s);

  cluster.patch("daemonsets/agent", kUpdate);
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:1", 2}, {"agent:2", 1}}));
  EXPECT_EQ(cluster.text("daemonsets/agent", "status.updatedNumberScheduled"), "1");
  EXPECT_EQ(cluster.text("daemonsets/agent", "status.numberUnavailable"), "1");
  cluster.advance(10s);
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:1", 1}, {"agent:2", 2}}));
  cluster.advance(10s);
  cluster.advance(10s);

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:2", 3}}));
  EXPECT_EQ(cluster.text("daemonsets/agent", "status.numberAvailable"), "3");
}

// SM-25
TEST(SimulatedDaemonSet, CreatesNewPodsBesideOldOnesWithMaxSurge) {
  Cluster cluster;
  cluster.apply(daemon_set(
      "minReadySeconds: 10\n  updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"));
  cluster.advance(10s);

  cluster.patch("daemonsets/agent", kUpdate);
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:1", 1}, {"agent:2", 1}}));
  cluster.advance(10s);

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:2", 1}}));
}

// SM-25
TEST(SimulatedDaemonSet, OnDeleteUpdatesOnlyPodsThatAreDeleted) {
  Cluster cluster;
  cluster.apply(daemon_set("updateStrategy: {type: OnDelete}"));

  cluster.patch("daemonsets/agent", kUpdate);
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:1", 1}}));
  cluster.remove("pods/" + cluster.names("pods"));

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"agent:2", 1}}));
}

// SM-25
TEST(SimulatedDaemonSet, KeepsARevisionPerTemplate) {
  Cluster cluster;
  cluster.apply(daemon_set());
  const std::string first = cluster.names("controllerrevisions");
  cluster.patch("daemonsets/agent", kUpdate);
  EXPECT_EQ(cluster.list("controllerrevisions").size(), 2U);

  cluster.patch("daemonsets/agent",
                "spec: {template: {spec: {containers: [{name: agent, image: 'agent:1'}]}}}");

  EXPECT_EQ(cluster.text("controllerrevisions/" + first, "revision"), "3");
  EXPECT_EQ(cluster.text("controllerrevisions/" + first, "data.spec.template['$patch']"),
            "replace");
  EXPECT_EQ("agent-" + cluster.join("pods", "metadata.labels['controller-revision-hash']"), first);
}

}  // namespace
}  // namespace kube::testkit
