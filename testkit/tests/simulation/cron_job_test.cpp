// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

namespace kube::testkit {
namespace {

std::string cron_job(std::string_view schedule, std::string_view more = "",
                     std::string_view annotations = "{}") {
  return fmt::format(R"(
apiVersion: batch/v1
kind: CronJob
metadata: {{name: tick}}
spec:
  schedule: "{}"
  {}
  jobTemplate:
    spec:
      template:
        metadata: {{annotations: {}}}
        spec: {{restartPolicy: Never, containers: [{{name: c, image: "busybox:1"}}]}}
)",
                     schedule, more, annotations);
}

constexpr std::string_view kRuns = "{simulation.kubecxx/outcome: running}";

// SM-20
TEST(SimulatedCronJob, CreatesAJobOnSchedule) {
  Cluster cluster;
  cluster.apply(cron_job("*/5 * * * *"));
  EXPECT_EQ(cluster.names("jobs"), "");
  cluster.advance(299s);
  EXPECT_EQ(cluster.names("jobs"), "");

  cluster.advance(1s);

  // 2026-01-01T00:05:00Z in minutes
  EXPECT_EQ(cluster.names("jobs"), "tick-29453765");
  EXPECT_EQ(cluster.text("jobs/tick-29453765",
                         "metadata.annotations['batch.kubernetes.io/cronjob-scheduled-timestamp']"),
            "2026-01-01T00:05:00Z");
  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastScheduleTime"), "2026-01-01T00:05:00Z");
  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastSuccessfulTime"), "2026-01-01T00:05:00Z");
  EXPECT_EQ(cluster.text("cronjobs/tick", "status.active"), "");
  cluster.advance(300s);
  EXPECT_EQ(cluster.names("jobs"), "tick-29453765 tick-29453770");
}

// SM-20
TEST(SimulatedCronJob, CreatesOneJobForAllMissedTimes) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *"));

  cluster.advance(std::chrono::hours{24 * 30});

  EXPECT_EQ(cluster.list("jobs").size(), 1U);
  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastScheduleTime"), "2026-01-31T00:00:00Z");
}

// SM-20
TEST(SimulatedCronJob, KnowsTimeZones) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin"))
    GTEST_SKIP() << "no time zone database is installed";
  Cluster cluster;

  cluster.apply(cron_job("30 3 * * *", "timeZone: Europe/Berlin"));
  cluster.advance(std::chrono::hours{24});

  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastScheduleTime"), "2026-01-01T02:30:00Z");
  EXPECT_EQ(
      Cluster::text(cluster.list("jobs").front(),
                    "metadata.annotations['batch.kubernetes.io/cronjob-scheduled-timestamp']"),
      "2026-01-01T03:30:00+01:00");
}

// SM-20
TEST(SimulatedCronJob, RunsAtFixedIntervals) {
  Cluster cluster;
  cluster.apply(cron_job("@every 90s"));

  cluster.advance(89s);
  EXPECT_EQ(cluster.list("jobs").size(), 0U);
  cluster.advance(1s);
  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastScheduleTime"), "2026-01-01T00:01:30Z");
  cluster.advance(90s);

  EXPECT_EQ(cluster.text("cronjobs/tick", "status.lastScheduleTime"), "2026-01-01T00:03:00Z");
}

// SM-21
TEST(SimulatedCronJob, RunsConcurrentJobsIfAllowed) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *", "", kRuns));

  cluster.advance(60s);
  cluster.advance(60s);

  EXPECT_EQ(cluster.list("jobs").size(), 2U);
  EXPECT_EQ(cluster.get("cronjobs/tick")->get_array("status.active").size(), 2U);
}

// SM-21
TEST(SimulatedCronJob, SkipsATimeWhileAJobRunsIfForbidden) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *", "concurrencyPolicy: Forbid", kRuns));

  cluster.advance(60s);
  cluster.advance(60s);

  EXPECT_EQ(cluster.list("jobs").size(), 1U);
}

// SM-21
TEST(SimulatedCronJob, ReplacesAJobThatStillRuns) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *", "concurrencyPolicy: Replace", kRuns));
  cluster.advance(60s);
  const std::string first = cluster.names("jobs");

  cluster.advance(60s);

  EXPECT_EQ(cluster.list("jobs").size(), 1U);
  EXPECT_NE(cluster.names("jobs"), first);
  EXPECT_EQ(cluster.get("cronjobs/tick")->get_array("status.active").size(), 1U);
}

// SM-21
TEST(SimulatedCronJob, MakesNoJobsWhileItIsSuspended) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *", "suspend: true"));

  cluster.advance(600s);

  EXPECT_EQ(cluster.list("jobs").size(), 0U);
}

// SM-21
TEST(SimulatedCronJob, MakesNoJobAfterTheStartingDeadline) {
  Cluster cluster;
  cluster.apply(cron_job("*/10 * * * *", "startingDeadlineSeconds: 30\n  suspend: true"));
  cluster.advance(640s);

  cluster.patch("cronjobs/tick", "spec: {suspend: false}");
  EXPECT_EQ(cluster.list("jobs").size(), 0U);
  cluster.advance(560s);

  EXPECT_EQ(cluster.list("jobs").size(), 1U);
}

// SM-21
TEST(SimulatedCronJob, DeletesOldJobsBeyondItsHistoryLimits) {
  Cluster cluster;
  cluster.apply(cron_job("* * * * *", "successfulJobsHistoryLimit: 2"));

  for (int i = 0; i < 5; ++i) cluster.advance(60s);

  EXPECT_EQ(cluster.names("jobs"), "tick-29453764 tick-29453765");
  EXPECT_EQ(cluster.list("pods").size(), 2U);
}

}  // namespace
}  // namespace kube::testkit
