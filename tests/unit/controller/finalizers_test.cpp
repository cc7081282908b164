// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/controller/finalizers.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

using ::testing::ElementsAre;

// CF-43
TEST(Finalizers, ArePutOntoAnObjectThatLives) {
  Finalizers<core::v1::Pod> finalizers;
  int runs = 0;
  finalizers.add("example.com/disk", [&](core::v1::Pod&) {
    ++runs;
    return FinalizerResult{};
  });
  core::v1::Pod pod;

  EXPECT_TRUE(finalizers.run(pod).updated);
  EXPECT_TRUE(has_finalizer(pod, "example.com/disk"));
  EXPECT_FALSE(finalizers.run(pod).updated);
  EXPECT_EQ(runs, 0);
}

// CF-43
TEST(Finalizers, GetTheStopTokenIfTheyWantOne) {
  Finalizers<core::v1::Pod> finalizers;
  bool stopped = false;
  finalizers.add("example.com/disk", [&](core::v1::Pod&, const std::stop_token& stop) {
    stopped = stop.stop_requested();
    return FinalizerResult{};
  });
  core::v1::Pod pod;
  pod.metadata.deletion_timestamp = Time::from_unix(1);
  add_finalizer(pod, "example.com/disk");
  std::stop_source stop;
  stop.request_stop();

  EXPECT_TRUE(finalizers.run(pod, stop.get_token()).updated);
  EXPECT_TRUE(stopped);
}

// CF-43
TEST(Finalizers, RunOnAnObjectThatIsBeingDeletedAndLeaveIt) {
  Finalizers<core::v1::Pod> finalizers;
  finalizers.add("example.com/disk", [](core::v1::Pod& pod) {
    pod.status.message = "disk is gone";
    return FinalizerResult{.status_updated = true};
  });
  finalizers.add("example.com/absent", [](core::v1::Pod&) -> FinalizerResult {
    throw std::logic_error{"not there, so not run"};
  });
  core::v1::Pod pod;
  pod.metadata.deletion_timestamp = Time::from_unix(1);
  add_finalizer(pod, "example.com/disk");
  add_finalizer(pod, "other.com/foreign");

  const FinalizerResult result = finalizers.run(pod);
  EXPECT_TRUE(result.updated);
  EXPECT_TRUE(result.status_updated);
  EXPECT_TRUE(result.failures.empty());
  EXPECT_EQ(pod.status.message, "disk is gone");
  EXPECT_FALSE(has_finalizer(pod, "example.com/disk"));
  EXPECT_TRUE(has_finalizer(pod, "other.com/foreign"));
  EXPECT_FALSE(finalizers.run(pod).updated);
}

// CF-43
TEST(Finalizers, StayWhenTheyFailAndAreReportedTogether) {
  Finalizers<core::v1::Pod> finalizers;
  finalizers.add("a.com/x",
                 [](core::v1::Pod&) -> FinalizerResult { throw std::runtime_error{"no"}; });
  finalizers.add("b.com/y", [](core::v1::Pod&) { return FinalizerResult{}; });
  finalizers.add("c.com/z", [](core::v1::Pod&) { return FinalizerResult{.failures = {"later"}}; });
  core::v1::Pod pod;
  for (const char* name : {"a.com/x", "b.com/y", "c.com/z"}) add_finalizer(pod, name);
  pod.metadata.deletion_timestamp = Time::from_unix(1);

  const FinalizerResult result = finalizers.run(pod);
  EXPECT_TRUE(result.updated);
  EXPECT_THAT(result.failures, ElementsAre("a.com/x: no", "c.com/z: later"));
  EXPECT_THAT(pod.metadata.finalizers, ElementsAre("a.com/x", "c.com/z"));
}

TEST(Finalizers, StayWhenTheyThrowANonException) {
  Finalizers<core::v1::Pod> finalizers;
  finalizers.add("a.com/x", [](core::v1::Pod&) -> FinalizerResult { throw 42; });  // NOLINT
  finalizers.add("b.com/y", [](core::v1::Pod&) { return FinalizerResult{}; });
  core::v1::Pod pod;
  for (const char* name : {"a.com/x", "b.com/y"}) add_finalizer(pod, name);
  pod.metadata.deletion_timestamp = Time::from_unix(1);

  EXPECT_THAT(finalizers.run(pod).failures,
              ElementsAre("a.com/x: it threw an exception that is not a std::exception"));
  EXPECT_THAT(pod.metadata.finalizers, ElementsAre("a.com/x"));
}

TEST(Finalizers, HaveDifferentNames) {
  Finalizers<core::v1::Pod> finalizers;
  const auto nothing = [](core::v1::Pod&) { return FinalizerResult{}; };
  finalizers.add("a", nothing);
  EXPECT_THROW(finalizers.add("a", nothing), std::invalid_argument);
}

}  // namespace
}  // namespace kube
