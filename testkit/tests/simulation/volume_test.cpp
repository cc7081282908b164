// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string volume(std::string_view name, std::string_view size, std::string_view more = "") {
  return fmt::format(R"(
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {}}}
spec: {{capacity: {{storage: {}}}, accessModes: [ReadWriteOnce], storageClassName: slow, {} hostPath: {{path: /data}}}}
)",
                     name, size, more);
}

std::string claim(std::string_view storage_class, std::string_view more = "") {
  return fmt::format(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: mine}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 5Gi}}}}, {} storageClassName: {}}}
)",
                     more, storage_class);
}

std::string storage_class(std::string_view mode) {
  return fmt::format(
      "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: fast}}, provisioner: "
      "example.com/disk, "
      "volumeBindingMode: {}}}",
      mode);
}

constexpr std::string_view kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: mine}}]
)";

// SM-27
TEST(SimulatedVolumes, BindAClaimToTheSmallestVolumeThatFits) {
  Cluster cluster;
  cluster.apply(volume("small", "1Gi"));
  cluster.apply(volume("large", "100Gi"));
  cluster.apply(volume("fitting", "10Gi"));
  EXPECT_EQ(cluster.join("persistentvolumes", "status.phase"), "Available Available Available");

  cluster.apply(claim("slow"));

  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "spec.volumeName"), "fitting");
  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.phase"), "Bound");
  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.capacity.storage"), "10Gi");
  EXPECT_EQ(cluster.text("persistentvolumes/fitting", "status.phase"), "Bound");
  EXPECT_EQ(cluster.text("persistentvolumes/fitting", "spec.claimRef.name"), "mine");
}

// SM-27
TEST(SimulatedVolumes, KeepAClaimPendingUntilAVolumeFits) {
  Cluster cluster;
  cluster.apply(volume("small", "1Gi"));
  cluster.apply(claim("slow"));
  cluster.apply(kPod);
  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.phase"), "Pending");
  EXPECT_TRUE(
      cluster.condition("pods/user", "PodScheduled")
          .starts_with("False Unschedulable 0/1 nodes are available: pod has unbound immediate "
                       "PersistentVolumeClaims."))
      << cluster.condition("pods/user", "PodScheduled");

  cluster.apply(volume("fitting", "5Gi"));

  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.phase"), "Bound");
  EXPECT_EQ(cluster.text("pods/user", "status.phase"), "Running");
}

// SM-28
TEST(SimulatedVolumes, AreMadeForClaimsOfAClassWithAProvisioner) {
  Cluster cluster;
  cluster.apply(storage_class("Immediate"));

  cluster.apply(claim("fast"));

  const Ref<Value> mine = cluster.get("persistentvolumeclaims/mine");
  EXPECT_EQ(Cluster::text(mine, "status.phase"), "Bound");
  EXPECT_EQ(Cluster::text(mine, "spec.volumeName"), "pvc-" + Cluster::text(mine, "metadata.uid"));
  const Ref<Value> made =
      cluster.get("persistentvolumes/" + Cluster::text(mine, "spec.volumeName"));
  EXPECT_EQ(Cluster::text(made, "spec.capacity.storage"), "5Gi");
  EXPECT_EQ(Cluster::text(made, "spec.persistentVolumeReclaimPolicy"), "Delete");
  EXPECT_EQ(Cluster::text(made, "metadata.annotations['pv.kubernetes.io/provisioned-by']"),
            "example.com/disk");
  EXPECT_EQ(Cluster::text(made, "status.phase"), "Bound");
}

// SM-28
TEST(SimulatedVolumes, WaitForThePodThatUsesThem) {
  Cluster cluster;
  cluster.apply(storage_class("WaitForFirstConsumer"));
  cluster.apply(claim("fast"));
  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.phase"), "Pending");

  cluster.apply(kPod);

  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine", "status.phase"), "Bound");
  EXPECT_EQ(cluster.text("persistentvolumeclaims/mine",
                         "metadata.annotations['volume.kubernetes.io/selected-node']"),
            "kubecxx-node");
  EXPECT_EQ(cluster.text("pods/user", "status.phase"), "Running");
}

// SM-29
TEST(SimulatedVolumes, StayAsLongAsAPodUsesThem) {
  Cluster cluster;
  cluster.apply(storage_class("Immediate"));
  cluster.apply(claim("fast"));
  cluster.apply(kPod);

  cluster.remove("persistentvolumeclaims/mine");
  EXPECT_TRUE(cluster.get("persistentvolumeclaims/mine"));
  cluster.remove("pods/user");

  EXPECT_FALSE(cluster.get("persistentvolumeclaims/mine"));
  EXPECT_EQ(cluster.names("persistentvolumes"), "");
}

// SM-29
TEST(SimulatedVolumes, AreReleasedAndKeptIfTheyWereNotMadeForTheClaim) {
  Cluster cluster;
  cluster.apply(volume("fitting", "10Gi"));
  cluster.apply(claim("slow"));

  cluster.remove("persistentvolumeclaims/mine");

  EXPECT_EQ(cluster.text("persistentvolumes/fitting", "status.phase"), "Released");
  cluster.remove("persistentvolumes/fitting");
  EXPECT_EQ(cluster.names("persistentvolumes"), "");
}

}  // namespace
}  // namespace kube::testkit
