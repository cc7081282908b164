// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string pod(std::string_view policy, std::string_view annotations = "{}",
                std::string_view more = "") {
  return fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{name: one, labels: {{app: one}}, annotations: {}}}
spec:
  restartPolicy: {}
  {}
  initContainers: [{{name: first, image: "busybox:1"}}]
  containers: [{{name: main, image: "busybox:1"}}]
)",
                     annotations, policy, more);
}

constexpr std::string_view kWaiting = "status.containerStatuses[0].state.waiting.reason";

// SM-2
TEST(SimulatedPod, RunsAndIsReady) {
  Cluster cluster;

  cluster.apply(pod("Always"));

  const Ref<Value> one = cluster.get("pods/one");
  EXPECT_EQ(Cluster::text(one, "status.phase"), "Running");
  EXPECT_EQ(Cluster::text(one, "spec.nodeName"), "kubecxx-node");
  EXPECT_EQ(Cluster::text(one, "status.startTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Cluster::text(one, "status.containerStatuses[0].state.running.startedAt"),
            "2026-01-01T00:00:00Z");
  EXPECT_EQ(Cluster::text(one, "status.initContainerStatuses[0].state.terminated.reason"),
            "Completed");
  EXPECT_TRUE(Cluster::text(one, "status.podIP").starts_with("10.244."));
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    EXPECT_EQ(Cluster::condition(one, type), "True  ") << type;
  }
}

// SM-3
TEST(SimulatedPod, SucceedsAtOnceIfItIsNotRestarted) {
  for (const char* policy : {"Never", "OnFailure"}) {
    Cluster cluster;

    cluster.apply(pod(policy));

    const Ref<Value> one = cluster.get("pods/one");
    EXPECT_EQ(Cluster::text(one, "status.phase"), "Succeeded") << policy;
    EXPECT_EQ(Cluster::text(one, "status.containerStatuses[0].state.terminated.exitCode"), "0");
    EXPECT_EQ(Cluster::condition(one, "Ready"), "False PodCompleted ");
  }
}

// SM-3
TEST(SimulatedPod, EndsAsConfiguredByItsAnnotations) {
  Cluster cluster;
  cluster.apply(
      pod("Never", "{simulation.kubecxx/outcome: failed, simulation.kubecxx/after: 90s}"));
  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Running");

  cluster.advance(89s);
  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Running");
  cluster.advance(1s);

  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Failed");
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].state.terminated.reason"),
            "Error");
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].state.terminated.exitCode"), "1");
}

// SM-3
TEST(SimulatedPod, ReportsInvalidAnnotationsInItsStatus) {
  Cluster cluster;

  cluster.apply(pod("Never", "{simulation.kubecxx/outcome: sucess}"));

  EXPECT_EQ(cluster.text("pods/one", kWaiting), "InvalidSimulation");
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].state.waiting.message"),
            "annotation simulation.kubecxx/outcome: \"sucess\" is none of pending, unready, "
            "running, succeeded, failed");
}

// SM-4
TEST(SimulatedPod, KeepsStatusWrittenByClients) {
  Cluster cluster;
  cluster.apply(pod("Never", "{simulation.kubecxx/outcome: pending}"));
  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Pending");
  EXPECT_EQ(cluster.text("pods/one", "spec.nodeName"), "kubecxx-node");

  cluster.patch("pods/one", "status: {phase: Failed, reason: Evicted}", "/status");
  cluster.advance(3600s);

  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Failed");
  EXPECT_EQ(cluster.text("pods/one", "status.reason"), "Evicted");
}

// SM-5
TEST(SimulatedPod, BacksOffBeforeItIsRestarted) {
  Cluster cluster;

  cluster.apply(pod("Always", "{simulation.kubecxx/outcome: failed}"));
  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Running");
  EXPECT_EQ(cluster.text("pods/one", kWaiting), "CrashLoopBackOff");
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].restartCount"), "0");
  cluster.advance(10s);
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].restartCount"), "1");
  cluster.advance(19s);
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].restartCount"), "1");
  cluster.advance(1s);

  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].restartCount"), "2");
  EXPECT_EQ(cluster.text("pods/one", "status.containerStatuses[0].lastState.terminated.exitCode"),
            "1");
}

// SM-5
TEST(SimulatedPod, FailsAtItsActiveDeadline) {
  Cluster cluster;
  cluster.apply(pod("Always", "{}", "activeDeadlineSeconds: 5"));

  cluster.advance(5s);

  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Failed");
  EXPECT_EQ(cluster.text("pods/one", "status.reason"), "DeadlineExceeded");
}

// SM-2
TEST(SimulatedPod, BecomesReadyWhenItsReadinessGatesAreMet) {
  Cluster cluster;
  cluster.apply(pod("Always", "{}", "readinessGates: [{conditionType: example.com/on}]"));
  EXPECT_EQ(cluster.condition("pods/one", "Ready"),
            "False ReadinessGatesNotReady corresponding condition of pod readiness gate "
            "\"example.com/on\" does not exist.");

  cluster.server().request(
      "PATCH", "/api/v1/namespaces/default/pods/one/status",
      *decode_yaml<Value>("status: {conditions: [{type: example.com/on, status: 'True'}]}"),
      "application/strategic-merge-patch+json");
  cluster.settle();

  EXPECT_EQ(cluster.condition("pods/one", "Ready"), "True  ");
}

// SM-6
TEST(SimulatedPod, StopsAfterTheConfiguredDelay) {
  Cluster cluster;
  cluster.apply(pod("Always", "{simulation.kubecxx/stop-after: 5s}"));

  cluster.remove("pods/one");
  cluster.advance(4s);
  EXPECT_TRUE(cluster.get("pods/one"));
  cluster.advance(1s);

  EXPECT_FALSE(cluster.get("pods/one"));
}

// SM-2
TEST(SimulatedPod, HasAnAddressOfItsOwn) {
  Cluster cluster;
  cluster.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 60
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
)");

  std::set<std::string> addresses;
  for (const Ref<Value>& one : cluster.list("pods"))
    addresses.insert(Cluster::text(one, "status.podIP"));

  EXPECT_EQ(addresses.size(), 60U);
}

// SM-7, SM-8
TEST(SimulatedNode, CordonKeepsPodsAwayUntilItIsLifted) {
  Cluster cluster;
  cluster.patch("nodes/kubecxx-node", "spec: {unschedulable: true}");
  EXPECT_EQ(cluster.text("nodes/kubecxx-node", "spec.taints[0].key"),
            "node.kubernetes.io/unschedulable");

  cluster.apply(pod("Always"));

  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Pending");
  EXPECT_EQ(cluster.text("pods/one", "spec.nodeName"), "");
  EXPECT_EQ(cluster.condition("pods/one", "PodScheduled"),
            "False Unschedulable 0/1 nodes are available: 1 node(s) were unschedulable. no new "
            "claims to deallocate, "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");

  cluster.patch("nodes/kubecxx-node", "spec: {unschedulable: false}");

  EXPECT_EQ(cluster.text("nodes/kubecxx-node", "spec.taints"), "");
  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Running");
  EXPECT_EQ(cluster.condition("pods/one", "PodScheduled"), "True  ");
}

// SM-7
TEST(SimulatedNode, BecomesReadyWhenItIsCreated) {
  Cluster cluster;

  cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: second}}");

  EXPECT_EQ(cluster.condition("nodes/second", "Ready"),
            "True KubeletReady kubelet is posting ready status");
  EXPECT_EQ(cluster.text("nodes/second", "spec.taints"), "");
  EXPECT_EQ(cluster.condition("nodes/kubecxx-node", "Ready"),
            "True KubeletReady kubelet is posting ready status");
}

// SM-7, SM-4
TEST(SimulatedNode, GetsNoPodsWhileAClientMakesItNotReady) {
  Cluster cluster;
  cluster.patch("nodes/kubecxx-node", "status: {conditions: [{type: Ready, status: 'False'}]}",
                "/status");
  EXPECT_EQ(cluster.text("nodes/kubecxx-node", "spec.taints[0].key"),
            "node.kubernetes.io/not-ready");

  cluster.apply(pod("Always"));

  EXPECT_EQ(cluster.text("pods/one", "status.phase"), "Pending");
}

// SM-8
TEST(SimulatedScheduler, FollowsSelectorsAffinityAndTaints) {
  Cluster cluster;
  cluster.apply(R"(
{apiVersion: v1, kind: Node, metadata: {name: fast, labels: {disk: ssd}}}
---
{apiVersion: v1, kind: Node, metadata: {name: tainted}, spec: {taints: [{key: own, value: me, effect: NoSchedule}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: selects}, spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: nowhere}, spec: {nodeSelector: {disk: none}, containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: tolerates}
spec:
  tolerations: [{key: own, operator: Equal, value: me, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: DoesNotExist}], matchFields: [{key: metadata.name, operator: In, values: [tainted]}]}]
  containers: [{name: c, image: i}]
)");

  EXPECT_EQ(cluster.text("pods/selects", "spec.nodeName"), "fast");
  EXPECT_EQ(cluster.text("pods/tolerates", "spec.nodeName"), "tainted");
  EXPECT_NE(cluster.condition("pods/nowhere", "PodScheduled")
                .find("0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) "
                      "didn't match Pod's node affinity/selector."),
            std::string::npos)
      << cluster.condition("pods/nowhere", "PodScheduled");
}

// SM-8
TEST(SimulatedScheduler, SpreadsPodsOverNodes) {
  Cluster cluster;
  cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: second}}");

  cluster.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
)");

  std::map<std::string, int> nodes;
  for (const Ref<Value>& one : cluster.list("pods")) ++nodes[Cluster::text(one, "spec.nodeName")];
  EXPECT_EQ(nodes, (std::map<std::string, int>{{"kubecxx-node", 2}, {"second", 2}}));
}

}  // namespace
}  // namespace kube::testkit
