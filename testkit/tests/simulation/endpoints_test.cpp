// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

constexpr std::string_view kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: web}}
spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: 8080}]}]}
)";
constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, labels: {team: a}}
spec: {selector: {app: web}, ports: [{name: plain, port: 80, targetPort: http}, {name: admin, port: 9090}]}
)";

Ref<Value> slice(Cluster& cluster) {
  const auto slices = cluster.list("endpointslices");
  return slices.size() == 1 ? slices.front() : nullptr;
}

// SM-26
TEST(SimulatedEndpoints, ListTheReadyPodsWithTheirPorts) {
  Cluster cluster;
  cluster.apply(kPod);

  cluster.apply(kService);

  const std::string address = cluster.text("pods/one", "status.podIP");
  const Ref<Value> found = slice(cluster);
  ASSERT_TRUE(found);
  EXPECT_TRUE(Cluster::text(found, "metadata.name").starts_with("web-"));
  EXPECT_EQ(Cluster::text(found, "metadata.labels['kubernetes.io/service-name']"), "web");
  EXPECT_EQ(Cluster::text(found, "metadata.labels['endpointslice.kubernetes.io/managed-by']"),
            "endpointslice-controller.k8s.io");
  EXPECT_EQ(Cluster::text(found, "metadata.labels.team"), "a");
  EXPECT_EQ(Cluster::text(found, "metadata.ownerReferences[0].kind"), "Service");
  EXPECT_EQ(Cluster::text(found, "endpoints[0].addresses[0]"), address);
  EXPECT_EQ(Cluster::text(found, "endpoints[0].conditions.ready"), "true");
  EXPECT_EQ(Cluster::text(found, "endpoints[0].nodeName"), "kubecxx-node");
  EXPECT_EQ(Cluster::text(found, "endpoints[0].targetRef.name"), "one");
  EXPECT_EQ(Cluster::text(found, "ports[0].port"), "8080");
  EXPECT_EQ(Cluster::text(found, "ports[1].port"), "9090");
  EXPECT_EQ(cluster.text("endpoints/web", "subsets[0].addresses[0].ip"), address);
  EXPECT_EQ(cluster.text("endpoints/web", "subsets[0].ports[0].name"), "plain");
  EXPECT_EQ(cluster.text("endpoints/web", "subsets[0].ports[0].port"), "8080");
}

// SM-26
TEST(SimulatedEndpoints, FollowReadinessLabelsAndDeletion) {
  Cluster cluster;
  cluster.apply(kPod);
  cluster.apply(kService);

  cluster.patch("pods/one", "status: {conditions: [{type: Ready, status: 'False'}]}", "/status");
  EXPECT_EQ(Cluster::text(slice(cluster), "endpoints[0].conditions.ready"), "false");
  EXPECT_EQ(cluster.text("endpoints/web", "subsets[0].addresses"), "");
  EXPECT_NE(cluster.text("endpoints/web", "subsets[0].notReadyAddresses[0].ip"), "");
  cluster.patch("pods/one", "metadata: {labels: {app: other}}");
  EXPECT_EQ(Cluster::text(slice(cluster), "endpoints[0]"), "");
  EXPECT_EQ(cluster.text("endpoints/web", "subsets"), "");
  cluster.patch("pods/one", "metadata: {labels: {app: web}}");
  EXPECT_NE(Cluster::text(slice(cluster), "endpoints[0]"), "");
  cluster.remove("services/web");

  EXPECT_EQ(cluster.names("endpointslices"), "");
  EXPECT_EQ(cluster.names("endpoints"), "");
}

// SM-26
TEST(SimulatedEndpoints, ShowPodsThatTerminate) {
  Cluster cluster;
  cluster.apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: slow, labels: {app: web}, annotations: {simulation.kubecxx/stop-after: 10s}}
spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: 8080}]}]}
)");
  cluster.apply(kService);

  cluster.remove("pods/slow");

  EXPECT_EQ(Cluster::text(slice(cluster), "endpoints[0].conditions.ready"), "false");
  EXPECT_EQ(Cluster::text(slice(cluster), "endpoints[0].conditions.serving"), "true");
  EXPECT_EQ(Cluster::text(slice(cluster), "endpoints[0].conditions.terminating"), "true");
  EXPECT_EQ(cluster.text("endpoints/web", "subsets"), "");
}

// SM-26
TEST(SimulatedEndpoints, AreSplitIntoSlicesOfAHundred) {
  Cluster cluster;
  cluster.apply(kService);
  cluster.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 120
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
)");

  std::multiset<std::size_t> sizes;
  for (const Ref<Value>& one : cluster.list("endpointslices"))
    sizes.insert(one->get_array("endpoints").size());

  EXPECT_EQ(sizes, (std::multiset<std::size_t>{20, 100}));
}

// SM-26
TEST(SimulatedEndpoints, AreNotMadeWithoutASelector) {
  Cluster cluster;

  cluster.apply(
      "{apiVersion: v1, kind: Service, metadata: {name: bare}, spec: {ports: [{port: 80}]}}");

  EXPECT_EQ(cluster.names("endpointslices"), "");
  EXPECT_EQ(cluster.names("endpoints"), "");
}

}  // namespace
}  // namespace kube::testkit
