// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_recorder.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "recording_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class EventRecorderTest : public ::testing::Test {
 protected:
  EventRecorder& recorder() {
    if (!recorder_) recorder_.emplace(sink_, options_);
    return *recorder_;
  }
  /// Advances the clock whenever the recorder waits, until everything is sent; returns the waiting
  /// times.
  std::vector<Clock::Duration> flush_with_waits() {
    std::vector<Clock::Duration> waits;
    auto done = std::async(std::launch::async, [&] { return recorder().flush(24h); });
    while (done.wait_for(0s) != std::future_status::ready) {
      const auto next = clock_.next_deadline();
      const auto wait = next - clock_.now();
      if (next == Clock::TimePoint::max() || wait > 1h) continue;
      waits.push_back(wait);
      clock_.advance(wait);
    }
    EXPECT_TRUE(done.get());
    return waits;
  }
  std::size_t logged() {
    const std::lock_guard guard{mutex_};
    return lines_.size();
  }

  testkit::FakeClock clock_;
  std::shared_ptr<RecordingSink<core::v1::Event>> sink_ =
      std::make_shared<RecordingSink<core::v1::Event>>();
  std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
  EventRecorderOptions options_{
      .component = "my-controller",
      .host = "node-1",
      .clock = &clock_,
      .random = [] { return 0.5; },
      .log = Logger{[this](LogLevel, std::string_view, std::string_view line) {
        const std::lock_guard guard{mutex_};
        lines_.emplace_back(line);
      }}};
  std::optional<EventRecorder> recorder_;
};

// EV-1, EV-2
TEST_F(EventRecorderTest, FillsInANewEvent) {
  core::v1::Pod pod;
  pod.metadata.name = "web-0";
  pod.metadata.namespace_ = "team-a";
  pod.metadata.uid = "u-1";
  pod.metadata.resource_version = "7";
  recorder().record(pod, "Normal", "Synced", "all is well");
  ASSERT_TRUE(recorder().flush(1h));

  ASSERT_EQ(sink_->calls().size(), 1U);
  const core::v1::Event event = sink_->calls()[0].event;
  EXPECT_EQ(event.metadata.name, "web-0.18867251edfa0000");  // 1767225600 s in nanoseconds
  EXPECT_EQ(event.metadata.namespace_, "team-a");
  EXPECT_EQ(event.involved_object.kind, "Pod");
  EXPECT_EQ(event.involved_object.api_version, "v1");
  EXPECT_EQ(event.involved_object.uid, "u-1");
  EXPECT_EQ(event.involved_object.resource_version, "7");
  EXPECT_EQ(event.type, "Normal");
  EXPECT_EQ(event.reason, "Synced");
  EXPECT_EQ(event.message, "all is well");
  EXPECT_EQ(event.count, 1);
  EXPECT_EQ(event.first_timestamp, Time{clock_.wall_now()});
  EXPECT_EQ(event.last_timestamp, event.first_timestamp);
  EXPECT_EQ(event.source.component, "my-controller");
  EXPECT_EQ(event.source.host, "node-1");
  EXPECT_EQ(event.reporting_component, "my-controller");
  EXPECT_EQ(event.reporting_instance, "node-1");
}

// EV-1
TEST_F(EventRecorderTest, NamesEventsOfOddObjects) {
  recorder().record({.kind = "Node", .name = "node-1"}, "Warning", "NotReady", "");
  recorder().record({.kind = "User", .name = "Not A Name"}, "Normal", "Seen", "");
  ASSERT_TRUE(recorder().flush(1h));

  ASSERT_EQ(sink_->calls().size(), 2U);
  EXPECT_EQ(sink_->calls()[0].event.metadata.namespace_, "default");
  EXPECT_THAT(sink_->calls()[1].event.metadata.name.str(), MatchesRegex("[0-9a-f-]{36}"));
}

// EV-1
TEST_F(EventRecorderTest, DropsOtherTypes) {
  recorder().record(pod_reference(), "Error", "Failed", "");
  ASSERT_TRUE(recorder().flush(1h));
  EXPECT_TRUE(sink_->calls().empty());
  EXPECT_EQ(logged(), 1U);
}

// EV-3
TEST_F(EventRecorderTest, NeverBlocksAndDropsEventsWhenFull) {
  EXPECT_EQ(options_.queue_size, 1000U);
  std::promise<void> release;
  sink_->set_fault(
      [wait = release.get_future().share()](const auto&, std::stop_token) { wait.wait(); });
  recorder().record(pod_reference("first"), "Normal", "R", "");
  while (sink_->attempts() == 0)
    std::this_thread::yield();  // the sink has it, so it is no longer in the queue
  for (int i = 0; i < 1003; ++i)
    recorder().record(pod_reference("p" + std::to_string(i)), "Normal", "R", "");
  EXPECT_EQ(logged(), 3U);
  release.set_value();
  ASSERT_TRUE(recorder().flush(1h));
  EXPECT_EQ(sink_->calls().size(), 1001U);
}

// EV-6
TEST_F(EventRecorderTest, PatchesTheEventOnRepetitionAndCreatesItIfItIsGone) {
  recorder().record(pod_reference(), "Normal", "R", "m");
  recorder().record(pod_reference(), "Normal", "R", "m");
  ASSERT_TRUE(recorder().flush(1h));
  ASSERT_EQ(sink_->calls().size(), 2U);
  EXPECT_THAT(sink_->calls()[1].patch, HasSubstr("\"count\":2"));

  sink_->set_fault([](const auto& call, std::stop_token) {
    if (!call.patch.empty()) throw ApiError{404, "gone"};
  });
  recorder().record(pod_reference(), "Normal", "R", "m");
  ASSERT_TRUE(recorder().flush(1h));
  ASSERT_EQ(sink_->calls().size(), 3U);
  EXPECT_EQ(sink_->calls()[2].patch, "");
  EXPECT_EQ(sink_->calls()[2].event.count, 3);
}

// EV-8
TEST_F(EventRecorderTest, TriesTwelveTimesWhenThereIsNoAnswer) {
  sink_->set_fault([](const auto&, std::stop_token) { throw Error{"connection refused"}; });
  recorder().record(pod_reference(), "Normal", "R", "m");
  const auto waits = flush_with_waits();
  EXPECT_EQ(sink_->attempts(), 12U);
  ASSERT_EQ(waits.size(), 11U);
  EXPECT_EQ(waits[0], 5s);  // a random part of 10 s
  for (std::size_t i = 1; i < waits.size(); ++i) EXPECT_EQ(waits[i], 10s);
}

// EV-8
TEST_F(EventRecorderTest, DoesNotRetryRejectedEvents) {
  sink_->set_fault([](const auto&, std::stop_token) { throw ApiError{409, "exists"}; });
  recorder().record(pod_reference(), "Normal", "R", "m");
  ASSERT_TRUE(recorder().flush(1h));
  EXPECT_EQ(sink_->attempts(), 1U);
  sink_->set_fault([](const auto&, std::stop_token) { throw std::invalid_argument{"no name"}; });
  recorder().record(pod_reference(), "Normal", "R", "n");
  ASSERT_TRUE(recorder().flush(1h));
  EXPECT_EQ(sink_->attempts(), 2U);
}

TEST_F(EventRecorderTest, EndsInTheMiddleOfAWait) {
  sink_->set_fault([](const auto&, std::stop_token) { throw Error{"connection refused"}; });
  recorder().record(pod_reference(), "Normal", "R", "m");
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_FALSE(recorder().flush(0s));
  recorder_.reset();
}

TEST_F(EventRecorderTest, ContinuesWhenTheSinkThrowsANonException) {
  sink_->set_fault([](const auto& call, std::stop_token) {
    if (call.event.reason == "Bad") throw 42;  // NOLINT
  });
  core::v1::ObjectReference object{.kind = "Pod", .namespace_ = "default", .name = "web"};
  recorder().record(object, "Normal", "Bad", "one");
  recorder().record(object, "Normal", "Good", "two");

  EXPECT_TRUE(flush_with_waits().empty());
  ASSERT_EQ(sink_->calls().size(), 1U);
  EXPECT_EQ(sink_->calls()[0].event.reason, "Good");
  EXPECT_EQ(logged(), 1U);
}

}  // namespace
}  // namespace kube
