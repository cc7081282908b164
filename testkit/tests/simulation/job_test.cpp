// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string job(std::string_view spec, std::string_view annotations = "{}",
                std::string_view policy = "Never") {
  return fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: work}}
spec:
  {}
  template:
    metadata: {{annotations: {}}}
    spec: {{restartPolicy: {}, containers: [{{name: c, image: "busybox:1"}}]}}
)",
                     spec, annotations, policy);
}

// SM-16
TEST(SimulatedJob, CompletesWhenItsPodSucceeds) {
  Cluster cluster;

  cluster.apply(job("backoffLimit: 4"));

  const Ref<Value> work = cluster.get("jobs/work");
  EXPECT_EQ(Cluster::text(work, "status.succeeded"), "1");
  EXPECT_EQ(Cluster::text(work, "status.active"), "");
  EXPECT_EQ(Cluster::text(work, "status.startTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Cluster::text(work, "status.completionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Cluster::condition(work, "SuccessCriteriaMet"),
            "True CompletionsReached Reached expected number of succeeded pods");
  EXPECT_EQ(Cluster::condition(work, "Complete"),
            "True CompletionsReached Reached expected number of succeeded pods");
  const Ref<Value> pod = cluster.list("pods").front();
  EXPECT_EQ(Cluster::text(pod, "metadata.labels['batch.kubernetes.io/job-name']"), "work");
  EXPECT_EQ(Cluster::text(pod, "metadata.finalizers"), "");
}

// SM-16
TEST(SimulatedJob, RunsPodsUpToParallelismUntilCompletions) {
  Cluster cluster;

  cluster.apply(job("completions: 5\n  parallelism: 2", "{simulation.kubecxx/after: 10s}"));
  EXPECT_EQ(cluster.text("jobs/work", "status.active"), "2");
  EXPECT_EQ(cluster.text("jobs/work", "status.ready"), "2");
  EXPECT_EQ(cluster.list("pods").size(), 2U);
  cluster.advance(10s);
  EXPECT_EQ(cluster.text("jobs/work", "status.succeeded"), "2");
  EXPECT_EQ(cluster.list("pods").size(), 4U);
  cluster.advance(10s);
  cluster.advance(10s);

  EXPECT_EQ(cluster.text("jobs/work", "status.succeeded"), "5");
  EXPECT_EQ(cluster.list("pods").size(), 5U);
  EXPECT_TRUE(cluster.condition("jobs/work", "Complete").starts_with("True"));
}

// SM-17
TEST(SimulatedJob, FailsAfterAsManyPodsAsTheBackoffLimitAllows) {
  Cluster cluster;

  cluster.apply(job("backoffLimit: 2", "{simulation.kubecxx/outcome: failed}"));
  EXPECT_EQ(cluster.text("jobs/work", "status.failed"), "1");
  EXPECT_EQ(cluster.list("pods").size(), 1U);
  cluster.advance(10s);
  EXPECT_EQ(cluster.text("jobs/work", "status.failed"), "2");
  cluster.advance(19s);
  EXPECT_EQ(cluster.text("jobs/work", "status.failed"), "2");
  cluster.advance(1s);

  EXPECT_EQ(cluster.text("jobs/work", "status.failed"), "3");
  EXPECT_EQ(cluster.condition("jobs/work", "FailureTarget"),
            "True BackoffLimitExceeded Job has reached the specified backoff limit");
  EXPECT_EQ(cluster.condition("jobs/work", "Failed"),
            "True BackoffLimitExceeded Job has reached the specified backoff limit");
  cluster.advance(3600s);
  EXPECT_EQ(cluster.list("pods").size(), 3U);
}

// SM-17
TEST(SimulatedJob, CountsRestartsInPlaceAgainstTheBackoffLimit) {
  Cluster cluster;

  cluster.apply(job("backoffLimit: 1", "{simulation.kubecxx/outcome: failed}", "OnFailure"));
  EXPECT_EQ(cluster.condition("jobs/work", "Failed"), "");
  cluster.advance(10s);

  EXPECT_EQ(cluster.condition("jobs/work", "Failed"),
            "True BackoffLimitExceeded Job has reached the specified backoff limit");
  EXPECT_EQ(cluster.list("pods").size(), 0U);
}

// SM-17
TEST(SimulatedJob, FailsAtItsActiveDeadlineAndDeletesItsPods) {
  Cluster cluster;
  cluster.apply(job("activeDeadlineSeconds: 30", "{simulation.kubecxx/outcome: running}"));
  EXPECT_EQ(cluster.text("jobs/work", "status.active"), "1");

  cluster.advance(30s);

  EXPECT_EQ(cluster.condition("jobs/work", "Failed"),
            "True DeadlineExceeded Job was active longer than specified deadline");
  EXPECT_EQ(cluster.text("jobs/work", "status.active"), "");
  EXPECT_EQ(cluster.list("pods").size(), 0U);
}

// SM-18
TEST(SimulatedJob, StopsWhileItIsSuspended) {
  Cluster cluster;
  cluster.apply(job("suspend: true"));
  EXPECT_EQ(cluster.condition("jobs/work", "Suspended"), "True JobSuspended Job suspended");
  EXPECT_EQ(cluster.list("pods").size(), 0U);

  cluster.advance(60s);
  cluster.patch("jobs/work", "spec: {suspend: false}");

  EXPECT_EQ(cluster.condition("jobs/work", "Suspended"), "False JobResumed Job resumed");
  EXPECT_EQ(cluster.text("jobs/work", "status.startTime"), "2026-01-01T00:01:00Z");
  EXPECT_TRUE(cluster.condition("jobs/work", "Complete").starts_with("True"));
}

// SM-18
TEST(SimulatedJob, DeletesItsPodsWhenItIsSuspended) {
  Cluster cluster;
  cluster.apply(job("parallelism: 2\n  completions: 2", "{simulation.kubecxx/outcome: running}"));
  ASSERT_EQ(cluster.list("pods").size(), 2U);

  cluster.patch("jobs/work", "spec: {suspend: true}");

  EXPECT_EQ(cluster.list("pods").size(), 0U);
  EXPECT_EQ(cluster.text("jobs/work", "status.active"), "");
}

// SM-18
TEST(SimulatedJob, IsDeletedWithItsPodsWhenItsTimeToLiveIsOver) {
  Cluster cluster;
  cluster.apply(job("ttlSecondsAfterFinished: 60"));

  cluster.advance(59s);
  EXPECT_TRUE(cluster.get("jobs/work"));
  cluster.advance(1s);

  EXPECT_FALSE(cluster.get("jobs/work"));
  EXPECT_EQ(cluster.list("pods").size(), 0U);
}

// SM-19
TEST(SimulatedJob, GivesEachPodAnIndex) {
  Cluster cluster;

  cluster.apply(job("completions: 3\n  parallelism: 3\n  completionMode: Indexed"));

  EXPECT_EQ(cluster.text("jobs/work", "status.completedIndexes"), "0-2");
  EXPECT_EQ(cluster.text("jobs/work", "status.succeeded"), "3");
  std::set<std::string> indexes;
  for (const Ref<Value>& pod : cluster.list("pods")) {
    const std::string index =
        Cluster::text(pod, "metadata.annotations['batch.kubernetes.io/job-completion-index']");
    indexes.insert(index);
    EXPECT_TRUE(Cluster::text(pod, "metadata.name").starts_with("work-" + index + '-'));
    EXPECT_EQ(Cluster::text(pod, "spec.hostname"), "work-" + index);
    EXPECT_EQ(Cluster::text(pod, "spec.containers[0].env[0].name"), "JOB_COMPLETION_INDEX");
  }
  EXPECT_EQ(indexes, (std::set<std::string>{"0", "1", "2"}));
}

// SM-16
TEST(SimulatedJob, ReleasesItsPodsWhenItIsDeleted) {
  for (const char* policy : {"Background", "Foreground"}) {
    Cluster cluster;
    cluster.apply(job("parallelism: 2", "{simulation.kubecxx/outcome: running}"));
    ASSERT_EQ(cluster.list("pods").size(), 2U);

    cluster.remove("jobs/work", fmt::format("propagationPolicy: {}", policy));

    EXPECT_EQ(cluster.list("pods").size(), 0U) << policy;
    EXPECT_FALSE(cluster.get("jobs/work"));
  }
}

// SM-16
TEST(SimulatedJob, RemovesFinalizersOfOrphanedPods) {
  Cluster cluster;
  cluster.apply(job("parallelism: 1", "{simulation.kubecxx/outcome: running}"));
  cluster.remove("jobs/work", "propagationPolicy: Orphan");
  ASSERT_EQ(cluster.list("pods").size(), 1U);

  cluster.remove("pods/" + cluster.names("pods"));

  EXPECT_EQ(cluster.list("pods").size(), 0U);
}

}  // namespace
}  // namespace kube::testkit
