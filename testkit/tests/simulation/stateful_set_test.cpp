// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string stateful_set(int replicas, std::string_view more = "",
                         std::string_view annotations = "{}") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  replicas: {}
  serviceName: db
  {}
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}, annotations: {}}}
    spec: {{containers: [{{name: db, image: "pg:1"}}]}}
)",
                     replicas, more, annotations);
}

constexpr std::string_view kClaims =
    "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
    "resources: {requests: "
    "{storage: 1Gi}}, storageClassName: fast}}]";
constexpr std::string_view kFastClass =
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: "
    "example.com/disk}";

std::string image(std::string_view name) {
  return fmt::format("spec: {{template: {{spec: {{containers: [{{name: db, image: '{}'}}]}}}}}}",
                     name);
}

// SM-22
TEST(SimulatedStatefulSet, GivesPodsOrdinalNamesAndIdentity) {
  Cluster cluster;

  cluster.apply(stateful_set(3));

  EXPECT_EQ(cluster.names("pods"), "db-0 db-1 db-2");
  const Ref<Value> pod = cluster.get("pods/db-1");
  EXPECT_EQ(Cluster::text(pod, "metadata.labels['statefulset.kubernetes.io/pod-name']"), "db-1");
  EXPECT_EQ(Cluster::text(pod, "metadata.labels['apps.kubernetes.io/pod-index']"), "1");
  EXPECT_EQ(Cluster::text(pod, "spec.hostname"), "db-1");
  EXPECT_EQ(Cluster::text(pod, "spec.subdomain"), "db");
  const Ref<Value> set = cluster.get("statefulsets/db");
  EXPECT_EQ(Cluster::text(set, "status.replicas"), "3");
  EXPECT_EQ(Cluster::text(set, "status.readyReplicas"), "3");
  EXPECT_EQ(Cluster::text(set, "status.availableReplicas"), "3");
  EXPECT_EQ(Cluster::text(set, "status.currentReplicas"), "3");
  EXPECT_EQ(Cluster::text(set, "status.updatedReplicas"), "3");
  EXPECT_EQ(Cluster::text(set, "status.currentRevision"), cluster.names("controllerrevisions"));
}

// SM-22
TEST(SimulatedStatefulSet, StartsPodsOneAfterTheOther) {
  Cluster cluster;
  cluster.apply(stateful_set(3, "minReadySeconds: 10"));
  EXPECT_EQ(cluster.names("pods"), "db-0");

  cluster.advance(10s);
  EXPECT_EQ(cluster.names("pods"), "db-0 db-1");
  cluster.advance(10s);

  EXPECT_EQ(cluster.names("pods"), "db-0 db-1 db-2");
}

// SM-22
TEST(SimulatedStatefulSet, StartsPodsAtOnceIfItIsParallel) {
  Cluster cluster;

  cluster.apply(
      stateful_set(3, "podManagementPolicy: Parallel", "{simulation.kubecxx/outcome: unready}"));

  EXPECT_EQ(cluster.names("pods"), "db-0 db-1 db-2");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.readyReplicas"), "");
}

// SM-22
TEST(SimulatedStatefulSet, DeletesPodsFromTheHighestOrdinalDown) {
  Cluster cluster;
  cluster.apply(stateful_set(3, "", "{simulation.kubecxx/stop-after: 5s}"));

  cluster.patch("statefulsets/db", "spec: {replicas: 1}");
  EXPECT_NE(cluster.text("pods/db-2", "metadata.deletionTimestamp"), "");
  EXPECT_EQ(cluster.text("pods/db-1", "metadata.deletionTimestamp"), "");
  cluster.advance(5s);
  EXPECT_EQ(cluster.names("pods"), "db-0 db-1");
  cluster.advance(5s);

  EXPECT_EQ(cluster.names("pods"), "db-0");
}

// SM-22, SM-28
TEST(SimulatedStatefulSet, KeepsClaimsWhenItIsScaledDown) {
  Cluster cluster;
  cluster.apply(kFastClass);

  cluster.apply(stateful_set(2, kClaims));
  EXPECT_EQ(cluster.names("persistentvolumeclaims"), "data-db-0 data-db-1");
  EXPECT_EQ(cluster.join("persistentvolumeclaims", "status.phase"), "Bound Bound");
  EXPECT_EQ(cluster.text("pods/db-1", "spec.volumes[0].persistentVolumeClaim.claimName"),
            "data-db-1");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.readyReplicas"), "2");
  cluster.patch("statefulsets/db", "spec: {replicas: 1}");

  EXPECT_EQ(cluster.names("persistentvolumeclaims"), "data-db-0 data-db-1");
}

// SM-22
TEST(SimulatedStatefulSet, FollowsTheRetentionPolicyOfClaims) {
  Cluster cluster;
  cluster.apply(kFastClass);
  cluster.apply(stateful_set(
      2,
      fmt::format(
          "persistentVolumeClaimRetentionPolicy: {{whenDeleted: Delete, whenScaled: Delete}}\n  {}",
          kClaims)));
  ASSERT_EQ(cluster.names("persistentvolumeclaims"), "data-db-0 data-db-1");

  cluster.patch("statefulsets/db", "spec: {replicas: 1}");
  EXPECT_EQ(cluster.names("persistentvolumeclaims"), "data-db-0");
  cluster.remove("statefulsets/db");

  EXPECT_EQ(cluster.names("persistentvolumeclaims"), "");
  EXPECT_EQ(cluster.names("pods"), "");
}

// SM-23
TEST(SimulatedStatefulSet, UpdatesFromTheHighestOrdinalDownToThePartition) {
  Cluster cluster;
  cluster.apply(
      stateful_set(3, "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}"));
  const std::string first = cluster.text("statefulsets/db", "status.currentRevision");

  cluster.patch("statefulsets/db", image("pg:2"));
  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:1 pg:1 pg:2");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.currentRevision"), first);
  EXPECT_NE(cluster.text("statefulsets/db", "status.updateRevision"), first);
  EXPECT_EQ(cluster.text("statefulsets/db", "status.updatedReplicas"), "1");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.currentReplicas"), "2");
  cluster.remove("pods/db-0");
  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:1 pg:1 pg:2");

  cluster.patch("statefulsets/db", "spec: {updateStrategy: {rollingUpdate: {partition: 0}}}");

  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:2 pg:2 pg:2");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.currentRevision"),
            cluster.text("statefulsets/db", "status.updateRevision"));
}

// SM-23
TEST(SimulatedStatefulSet, WaitsForAnUpdatedPodBeforeTheNext) {
  Cluster cluster;
  cluster.apply(stateful_set(3));

  cluster.patch("statefulsets/db",
                "spec: {template: {metadata: {annotations: {simulation.kubecxx/outcome: unready}}, "
                "spec: {containers: [{name: db, image: 'pg:2'}]}}}");

  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:1 pg:1 pg:2");
}

// SM-23
TEST(SimulatedStatefulSet, OnDeleteUpdatesOnlyPodsThatAreDeleted) {
  Cluster cluster;
  cluster.apply(stateful_set(2, "updateStrategy: {type: OnDelete}"));

  cluster.patch("statefulsets/db", image("pg:2"));
  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:1 pg:1");
  cluster.remove("pods/db-0");

  EXPECT_EQ(cluster.join("pods", "spec.containers[0].image"), "pg:2 pg:1");
}

// SM-23
TEST(SimulatedStatefulSet, ReusesTheRevisionOfAnOldTemplate) {
  Cluster cluster;
  cluster.apply(stateful_set(1, "revisionHistoryLimit: 1"));
  const std::string first = cluster.names("controllerrevisions");
  cluster.patch("statefulsets/db", image("pg:2"));

  cluster.patch("statefulsets/db", image("pg:1"));

  EXPECT_EQ(cluster.list("controllerrevisions").size(), 2U);
  EXPECT_EQ(cluster.text("controllerrevisions/" + first, "revision"), "3");
  EXPECT_EQ(cluster.text("statefulsets/db", "status.updateRevision"), first);
  cluster.patch("statefulsets/db", image("pg:3"));
  cluster.patch("statefulsets/db", image("pg:4"));
  EXPECT_EQ(cluster.list("controllerrevisions").size(), 2U);
}

}  // namespace
}  // namespace kube::testkit
