// SPDX-License-Identifier: Apache-2.0
#include <kube/api/errors.hpp>
#include <kube/api/time.hpp>

#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string deployment(int replicas, std::string_view outcome = "running") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}, annotations: {{simulation.kubecxx/outcome: {}}}}}
    spec: {{containers: [{{name: c, image: 'i:1'}}]}}
)",
                     replicas, outcome);
}

std::string budget(std::string_view limits) {
  return fmt::format(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: careful}}
spec: {{{}, selector: {{matchLabels: {{app: web}}}}}}
)",
                     limits);
}

/// Returns expectedPods, desiredHealthy, currentHealthy and disruptionsAllowed.
std::string numbers(Cluster& cluster) {
  const auto number = [&](std::string_view field) {
    return cluster.text("poddisruptionbudgets/careful", "status." + std::string{field});
  };
  return fmt::format("{} {} {} {}", number("expectedPods"), number("desiredHealthy"),
                     number("currentHealthy"), number("disruptionsAllowed"));
}

/// Evicts the first pod. Returns the status code.
int evict(Cluster& cluster) {
  const std::string name = Cluster::text(cluster.list("pods").front(), "metadata.name");
  try {
    cluster.server().request(
        "POST", "/api/v1/namespaces/default/pods/" + name + "/eviction",
        *decode_yaml<Value>("{apiVersion: policy/v1, kind: Eviction, metadata: {name: " + name +
                            "}}"));
    return 201;
  } catch (const ApiError& error) {
    return error.status().code;
  }
}

// SM-30
TEST(SimulatedDisruptionBudgets, CountThePodsOfADeployment) {
  Cluster cluster;
  cluster.apply(deployment(3));

  cluster.apply(budget("minAvailable: 2"));

  EXPECT_EQ(numbers(cluster), "3 2 3 1");
  EXPECT_EQ(cluster.text("poddisruptionbudgets/careful", "status.observedGeneration"), "1");
  EXPECT_EQ(cluster.condition("poddisruptionbudgets/careful", "DisruptionAllowed"),
            "True SufficientPods ");
  cluster.patch("deployments/web", "spec: {replicas: 2}");
  EXPECT_EQ(numbers(cluster), "2 2 2 0");
  EXPECT_EQ(cluster.condition("poddisruptionbudgets/careful", "DisruptionAllowed"),
            "False InsufficientPods ");
}

// SM-30
TEST(SimulatedDisruptionBudgets, RoundPercentagesOfTheDesiredNumberUp) {
  Cluster cluster;
  cluster.apply(deployment(5));
  cluster.apply(budget("maxUnavailable: 30%"));
  EXPECT_EQ(numbers(cluster), "5 3 5 2");
  cluster.patch("poddisruptionbudgets/careful", "spec: {maxUnavailable: null, minAvailable: 50%}");
  EXPECT_EQ(numbers(cluster), "5 3 5 2");
  cluster.patch("poddisruptionbudgets/careful", "spec: {maxUnavailable: 9, minAvailable: null}");
  EXPECT_EQ(numbers(cluster), "5 0 5 5");
}

// SM-30
TEST(SimulatedDisruptionBudgets, AllowNothingWithoutReadyPods) {
  Cluster cluster;
  cluster.apply(budget("minAvailable: 0"));
  EXPECT_EQ(numbers(cluster), "0 0 0 0");
  cluster.apply(deployment(2, "unready"));
  EXPECT_EQ(numbers(cluster), "2 0 0 0");
}

// SM-30
TEST(SimulatedDisruptionBudgets, SayWhyTheyCannotBeComputed) {
  Cluster cluster;
  cluster.apply(budget("maxUnavailable: 1"));
  cluster.apply(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: 'i:1'}]}}
)");

  EXPECT_EQ(cluster.text("poddisruptionbudgets/careful", "status.disruptionsAllowed"), "0");
  EXPECT_EQ(cluster.condition("poddisruptionbudgets/careful", "DisruptionAllowed"),
            "False SyncFailed daemonsets.apps does not implement the scale subresource");
  EXPECT_EQ(evict(cluster), 429);
}

// SM-30, DL-11
TEST(SimulatedDisruptionBudgets, LetPodsBeEvictedOneAfterTheOther) {
  Cluster cluster;
  cluster.apply(deployment(2));
  cluster.apply(budget("minAvailable: 1"));

  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(evict(cluster), 201);
    cluster.settle();  // the pod is replaced
    EXPECT_EQ(numbers(cluster), "2 1 2 1");
  }
  EXPECT_EQ(cluster.text("poddisruptionbudgets/careful", "status.disruptedPods"), "");
}

// SM-30
TEST(SimulatedDisruptionBudgets, ForgetAnEvictionThatDidNotHappen) {
  Cluster cluster;
  cluster.apply(deployment(2));
  cluster.apply(budget("minAvailable: 1"));
  const std::string pod = Cluster::text(cluster.list("pods").front(), "metadata.name");
  cluster.patch(
      "poddisruptionbudgets/careful",
      "status: {disruptedPods: {" + pod + ": '" + Time{cluster.clock().wall_now()}.str() + "'}}",
      "/status");
  EXPECT_EQ(numbers(cluster), "2 1 1 0");

  cluster.advance(121s);

  EXPECT_EQ(numbers(cluster), "2 1 2 1");
  EXPECT_EQ(cluster.text("poddisruptionbudgets/careful", "status.disruptedPods"), "");
}

}  // namespace
}  // namespace kube::testkit
