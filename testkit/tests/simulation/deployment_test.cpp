// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string deployment(int replicas, std::string_view more = "",
                       std::string_view annotations = "{}") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, annotations: {{note: hello}}}}
spec:
  replicas: {}
  {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}, annotations: {}}}
    spec: {{containers: [{{name: web, image: "nginx:1"}}]}}
)",
                     replicas, more, annotations);
}

std::string image(std::string_view name) {
  return fmt::format("spec: {{template: {{spec: {{containers: [{{name: web, image: '{}'}}]}}}}}}",
                     name);
}

/// Returns the ReplicaSet with that image.
Ref<Value> set_of(Cluster& cluster, std::string_view name) {
  for (const Ref<Value>& set : cluster.list("replicasets")) {
    if (Cluster::text(set, "spec.template.spec.containers[0].image") == name) return set;
  }
  return nullptr;
}

constexpr std::string_view kRevision = "metadata.annotations['deployment.kubernetes.io/revision']";

// SM-10
TEST(SimulatedDeployment, MakesAReplicaSetWithHashRevisionAndAnnotations) {
  Cluster cluster;

  cluster.apply(deployment(2));

  const Ref<Value> set = set_of(cluster, "nginx:1");
  ASSERT_TRUE(set);
  const std::string hash = Cluster::text(set, "metadata.labels['pod-template-hash']");
  EXPECT_FALSE(hash.empty());
  EXPECT_EQ(Cluster::text(set, "metadata.name"), "web-" + hash);
  EXPECT_EQ(Cluster::text(set, "spec.selector.matchLabels['pod-template-hash']"), hash);
  EXPECT_EQ(Cluster::text(set, kRevision), "1");
  EXPECT_EQ(Cluster::text(set, "metadata.annotations.note"), "hello");
  EXPECT_EQ(Cluster::text(set, "metadata.annotations['deployment.kubernetes.io/desired-replicas']"),
            "2");
  EXPECT_EQ(Cluster::text(set, "metadata.annotations['deployment.kubernetes.io/max-replicas']"),
            "3");
  EXPECT_EQ(cluster.text("deployments/web", kRevision), "1");
}

// SM-10
TEST(SimulatedDeployment, UndoReusesTheOldReplicaSetWithANewRevision) {
  Cluster cluster;
  cluster.apply(deployment(2));
  const std::string first = Cluster::text(set_of(cluster, "nginx:1"), "metadata.name");
  cluster.patch("deployments/web", image("nginx:2"));
  EXPECT_EQ(cluster.text("deployments/web", kRevision), "2");

  cluster.patch("deployments/web", image("nginx:1"));

  EXPECT_EQ(cluster.list("replicasets").size(), 2U);
  const Ref<Value> set = set_of(cluster, "nginx:1");
  EXPECT_EQ(Cluster::text(set, "metadata.name"), first);
  EXPECT_EQ(Cluster::text(set, kRevision), "3");
  EXPECT_EQ(Cluster::text(set, "metadata.annotations['deployment.kubernetes.io/revision-history']"),
            "1");
  EXPECT_EQ(cluster.text("deployments/web", kRevision), "3");
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 2}}));
}

// SM-11
TEST(SimulatedDeployment, RollingUpdateStopsAtMaxSurgeAndMaxUnavailable) {
  Cluster cluster;
  cluster.apply(deployment(4, "strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}"));

  // Pods of the new template never become ready, so the rollout stops at the bounds.
  cluster.patch("deployments/web",
                "spec: {template: {metadata: {annotations: {simulation.kubecxx/outcome: unready}}, "
                "spec: {containers: [{name: web, image: 'nginx:2'}]}}}");

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 3}, {"nginx:2", 2}}));
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "3");
  EXPECT_EQ(cluster.text("deployments/web", "status.updatedReplicas"), "2");
  EXPECT_EQ(cluster.text("deployments/web", "status.unavailableReplicas"), "2");
  EXPECT_EQ(cluster.condition("deployments/web", "Available"),
            "True MinimumReplicasAvailable Deployment has minimum availability.");
}

// SM-11
TEST(SimulatedDeployment, AllowsOneUnavailablePodIfBothBoundsAreZero) {
  Cluster cluster;
  cluster.apply(deployment(2, "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1%}}"));

  cluster.patch("deployments/web", image("nginx:2"));

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:2", 2}}));
}

// SM-12, SM-6
TEST(SimulatedDeployment, RecreateMakesNewPodsOnlyWhenTheOldOnesAreGone) {
  Cluster cluster;
  cluster.apply(
      deployment(2, "strategy: {type: Recreate}", "{simulation.kubecxx/stop-after: 10s}"));

  cluster.patch("deployments/web", image("nginx:2"));

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 2}}));
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "");
  cluster.advance(10s);
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:2", 2}}));
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "2");
}

// SM-13
TEST(SimulatedDeployment, ScalesButDoesNotRollOutWhilePaused) {
  Cluster cluster;
  cluster.apply(deployment(1));

  cluster.patch("deployments/web", "spec: {paused: true}");
  EXPECT_EQ(cluster.condition("deployments/web", "Progressing"),
            "Unknown DeploymentPaused Deployment is paused");
  cluster.patch("deployments/web", image("nginx:2"));
  cluster.patch("deployments/web", "spec: {replicas: 3}");
  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 3}}));
  EXPECT_EQ(cluster.list("replicasets").size(), 1U);
  EXPECT_EQ(cluster.text("deployments/web", "status.observedGeneration"),
            cluster.text("deployments/web", "metadata.generation"));

  cluster.patch("deployments/web", "spec: {paused: false}");

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:2", 3}}));
  EXPECT_EQ(
      cluster.condition("deployments/web", "Progressing"),
      fmt::format("True NewReplicaSetAvailable ReplicaSet \"{}\" has successfully progressed.",
                  Cluster::text(set_of(cluster, "nginx:2"), "metadata.name")));
}

// SM-13
TEST(SimulatedDeployment, ScalesInProportionDuringARollout) {
  Cluster cluster;
  cluster.apply(deployment(10, "strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}"));
  cluster.patch("deployments/web",
                "spec: {template: {metadata: {annotations: {simulation.kubecxx/outcome: unready}}, "
                "spec: {containers: [{name: web, image: 'nginx:2'}]}}}");
  ASSERT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 8}, {"nginx:2", 5}}));

  cluster.patch("deployments/web", "spec: {replicas: 15}");

  EXPECT_EQ(cluster.images(), (std::map<std::string, int>{{"nginx:1", 11}, {"nginx:2", 7}}));
}

// SM-14
TEST(SimulatedDeployment, CountsPodsAsAvailableAfterMinReadySeconds) {
  Cluster cluster;
  cluster.apply(deployment(2, "minReadySeconds: 30"));
  EXPECT_EQ(cluster.text("deployments/web", "status.readyReplicas"), "2");
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "");
  EXPECT_EQ(cluster.condition("deployments/web", "Available"),
            "False MinimumReplicasUnavailable Deployment does not have minimum availability.");

  cluster.advance(29s);
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "");
  cluster.advance(1s);

  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "2");
  EXPECT_EQ(cluster.condition("deployments/web", "Available"),
            "True MinimumReplicasAvailable Deployment has minimum availability.");
}

// SM-14
TEST(SimulatedDeployment, ReportsAnExceededProgressDeadline) {
  Cluster cluster;

  cluster.apply(
      deployment(1, "progressDeadlineSeconds: 60", "{simulation.kubecxx/outcome: unready}"));
  const std::string name = cluster.names("replicasets");
  EXPECT_EQ(cluster.condition("deployments/web", "Progressing"),
            fmt::format("True ReplicaSetUpdated ReplicaSet \"{}\" is progressing.", name));
  cluster.advance(62s);

  EXPECT_EQ(
      cluster.condition("deployments/web", "Progressing"),
      fmt::format("False ProgressDeadlineExceeded ReplicaSet \"{}\" has timed out progressing.",
                  name));
}

// SM-15
TEST(SimulatedDeployment, KeepsAsManyOldReplicaSetsAsTheHistoryLimit) {
  Cluster cluster;
  cluster.apply(deployment(1, "revisionHistoryLimit: 2"));

  for (int i = 2; i <= 6; ++i) cluster.patch("deployments/web", image(fmt::format("nginx:{}", i)));

  std::set<std::string> revisions;
  for (const Ref<Value>& set : cluster.list("replicasets"))
    revisions.insert(Cluster::text(set, kRevision));
  EXPECT_EQ(revisions, (std::set<std::string>{"4", "5", "6"}));
}

// SM-14
TEST(SimulatedDeployment, PropagatesTheReasonForRejectedPods) {
  Cluster cluster;
  cluster.apply(
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {pods: '1'}}}");

  cluster.apply(deployment(2));

  EXPECT_NE(cluster.condition("deployments/web", "ReplicaFailure").find("True FailedCreate"),
            std::string::npos)
      << cluster.condition("deployments/web", "ReplicaFailure");
  cluster.patch("resourcequotas/few", "spec: {hard: {pods: '2'}}");
  EXPECT_EQ(cluster.condition("deployments/web", "ReplicaFailure"), "");
  EXPECT_EQ(cluster.text("deployments/web", "status.availableReplicas"), "2");
}

// SM-9
TEST(SimulatedReplicaSet, AdoptsAndReleasesPodsByTheirLabels) {
  Cluster cluster;
  cluster.apply(deployment(2));
  const Ref<Value> released = cluster.list("pods").front();
  const std::string name = Cluster::text(released, "metadata.name");

  cluster.patch("pods/" + name, "metadata: {labels: {app: other}}");

  EXPECT_EQ(cluster.list("pods").size(), 3U);
  EXPECT_EQ(cluster.text("pods/" + name, "metadata.ownerReferences"), "");
  cluster.patch("pods/" + name, "metadata: {labels: {app: web}}");
  EXPECT_EQ(cluster.list("pods").size(), 2U);
}

// SM-9
TEST(SimulatedReplicaSet, DeletesPodsThatAreNotReadyFirst) {
  Cluster cluster;
  cluster.apply(deployment(3));
  const std::string unready = Cluster::text(cluster.list("pods")[1], "metadata.name");
  cluster.patch("pods/" + unready, "status: {conditions: [{type: Ready, status: 'False'}]}",
                "/status");
  EXPECT_EQ(cluster.text("deployments/web", "status.readyReplicas"), "2");

  cluster.patch("deployments/web", "spec: {replicas: 2}");

  EXPECT_FALSE(cluster.get("pods/" + unready));
  EXPECT_EQ(cluster.text("deployments/web", "status.readyReplicas"), "2");
}

}  // namespace
}  // namespace kube::testkit
