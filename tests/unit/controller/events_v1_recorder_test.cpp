// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/events_v1_recorder.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "recording_sink.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

class EventsV1RecorderTest : public ::testing::Test {
 protected:
  EventsV1Recorder& recorder() {
    if (!recorder_) recorder_.emplace(sink_, options_);
    return *recorder_;
  }
  void record(std::string_view note = "n", std::string_view object = "web-0") {
    recorder().record(pod_reference(object), {.reason = "Why", .action = "Do", .note = note});
  }
  std::vector<RecordingSink<events::v1::Event>::Call> sent() {
    EXPECT_TRUE(recorder().flush(1h));
    return sink_->calls();
  }
  /// Advances the clock to the next sweep or refresh, and waits for it.
  void pass(Clock::Duration by) {
    ASSERT_TRUE(clock_.wait_for_sleepers(1));
    clock_.advance(by);
    ASSERT_TRUE(clock_.wait_for_sleepers(1));
  }

  testkit::FakeClock clock_;
  std::shared_ptr<RecordingSink<events::v1::Event>> sink_ =
      std::make_shared<RecordingSink<events::v1::Event>>();
  EventsV1RecorderOptions options_{
      .controller = "ctl", .host = "node-1", .clock = &clock_, .random = [] { return 0.0; }};
  std::optional<EventsV1Recorder> recorder_;
};

// EV-20
TEST_F(EventsV1RecorderTest, FillsInANewEvent) {
  const core::v1::ObjectReference node{.kind = "Node", .name = "node-1"};
  recorder().record(pod_reference(),
                    {.type = "Warning", .reason = "Why", .action = "Do", .note = "note"}, &node);
  const auto calls = sent();
  ASSERT_EQ(calls.size(), 1U);
  const events::v1::Event& event = calls[0].event;
  EXPECT_EQ(event.metadata.name, "web-0.18867251edfa0000");
  EXPECT_EQ(event.metadata.namespace_, "team-a");
  EXPECT_EQ(event.event_time, MicroTime{clock_.wall_now()});
  EXPECT_EQ(event.reporting_controller, "ctl");
  EXPECT_EQ(event.reporting_instance, "ctl-node-1");
  EXPECT_EQ(event.action, "Do");
  EXPECT_EQ(event.reason, "Why");
  EXPECT_EQ(event.regarding, pod_reference());
  EXPECT_EQ(*event.related, node);
  EXPECT_EQ(event.note, "note");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.deprecated_count, 0);
  EXPECT_FALSE(event.deprecated_first_timestamp);
  EXPECT_FALSE(event.deprecated_last_timestamp);
  EXPECT_TRUE(event.deprecated_source.component.empty());
  EXPECT_FALSE(event.series);
}

// EV-20
TEST_F(EventsV1RecorderTest, DropsEventsThatAServerWouldReject) {
  options_.host = std::string(200, 'h');
  const std::string long_word(129, 'w');
  recorder().record(pod_reference(), {.reason = "", .action = "Do"});
  recorder().record(pod_reference(), {.reason = "Why", .action = ""});
  recorder().record(pod_reference(), {.reason = long_word, .action = "Do"});
  recorder().record(pod_reference(), {.reason = "Why", .action = long_word});
  recorder().record(pod_reference(), {.type = "Error", .reason = "Why", .action = "Do"});
  EXPECT_TRUE(sent().empty());

  record(std::string(1023, 'x') + "\xC3\xA9");  // the last character does not fit completely
  const auto calls = sent();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].event.note, std::string(1023, 'x'));
  EXPECT_EQ(calls[0].event.reporting_instance.size(), 128U);
}

// EV-21
TEST_F(EventsV1RecorderTest, MakesASeriesOfTheSecondAndCountsTheOthers) {
  record("one");
  ASSERT_EQ(sent().size(), 1U);
  clock_.advance(1s);
  record("two");
  ASSERT_EQ(sent().size(), 2U);
  EXPECT_EQ(sent()[1].patch,
            R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:01.000000Z"}})");
  EXPECT_EQ(sent()[1].event.metadata.name, sent()[0].event.metadata.name);
  for (int i = 0; i < 10; ++i) record("more");
  EXPECT_EQ(sent().size(), 2U);
}

// EV-21: the note is not part of the key; everything else is.
TEST_F(EventsV1RecorderTest, DistinguishesDifferentEvents) {
  record();
  record("n", "web-1");
  recorder().record(pod_reference(), {.reason = "Other", .action = "Do"});
  recorder().record(pod_reference(), {.reason = "Why", .action = "Other"});
  recorder().record(pod_reference(), {.type = "Warning", .reason = "Why", .action = "Do"});
  const core::v1::ObjectReference related = pod_reference("web-2");
  recorder().record(pod_reference(), {.reason = "Why", .action = "Do"}, &related);
  for (const auto& call : sent()) EXPECT_EQ(call.patch, "");
  EXPECT_EQ(sent().size(), 6U);
}

// EV-22
TEST_F(EventsV1RecorderTest, FinishesASeriesThatIsOld) {
  record();
  record();
  ASSERT_TRUE(recorder().flush(1h));
  record();
  record("n", "single");
  pass(6min);  // a sweep: nothing is older than 6 minutes
  EXPECT_EQ(sent().size(), 3U);
  pass(6min);
  const auto calls = sent();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[3].patch,
            R"({"series":{"count":3,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}})");
  record();  // both are forgotten: new events
  record("n", "single");
  ASSERT_EQ(sent().size(), 6U);
  EXPECT_EQ(sent()[4].patch, "");
  EXPECT_EQ(sent()[5].patch, "");
}

// EV-22
TEST_F(EventsV1RecorderTest, WritesRunningSeriesEveryThirtyMinutes) {
  record();
  ASSERT_TRUE(recorder().flush(1h));
  record();
  ASSERT_EQ(sent().size(), 2U);
  for (int i = 0; i < 4; ++i) {
    pass(6min);
    record();
  }
  EXPECT_EQ(sent().size(), 2U);
  pass(6min);
  const auto calls = sent();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[2].patch,
            R"({"series":{"count":6,"lastObservedTime":"2026-01-01T00:24:00.000000Z"}})");
}

// EV-23
TEST_F(EventsV1RecorderTest, SendsEightAtATimeAndKeepsAThousand) {
  EXPECT_EQ(options_.writers, 8U);
  EXPECT_EQ(options_.queue_size, 1000U);
  std::promise<void> release;
  sink_->set_fault(
      [wait = release.get_future().share()](const auto&, std::stop_token) { wait.wait(); });
  for (int i = 0; i < 8; ++i) record("n", "a" + std::to_string(i));
  while (sink_->attempts() < 8) std::this_thread::yield();
  for (int i = 0; i < 1010; ++i) record("n", "b" + std::to_string(i));
  EXPECT_EQ(sink_->attempts(), 8U);
  release.set_value();
  EXPECT_EQ(sent().size(), 1008U);
}

// EV-23
TEST_F(EventsV1RecorderTest, TriesTwelveTimesTenSecondsApart) {
  double random = 0;
  options_.random = [&] { return random += 0.25; };
  sink_->set_fault([](const auto&, std::stop_token) { throw Error{"no answer"}; });
  record();
  std::vector<Clock::Duration> waits;
  while (sink_->attempts() < 12) {
    const auto wait = clock_.next_deadline() - clock_.now();
    if (wait > 1min) continue;  // that is the sweeper
    waits.push_back(wait);
    clock_.advance(wait);
  }
  ASSERT_EQ(waits.size(), 11U);
  EXPECT_EQ(waits[0], 10625ms);  // 10 s and a random part of 25 %
  EXPECT_EQ(waits[1], 11250ms);
}

// EV-23
TEST_F(EventsV1RecorderTest, RetriesASeriesThatExistsAlready) {
  sink_->set_fault([](const auto& call, std::stop_token) {
    if (!call.event.series) return;
    meta::v1::Status status;
    status.code = call.patch.empty() ? 409 : 404;
    status.reason = call.patch.empty() ? "AlreadyExists" : "NotFound";
    throw ApiError{status};
  });
  record();
  ASSERT_TRUE(recorder().flush(1h));
  record();
  while (clock_.next_deadline() - clock_.now() > 1min) std::this_thread::yield();
  EXPECT_EQ(sink_->attempts(),
            3U);  // created; patched (not found); created (already exists)
  sink_->set_fault(nullptr);
  clock_.advance(10s);
  EXPECT_EQ(sent().size(), 2U);

  // For a single event, "already exists" is final.
  sink_->set_fault([](const auto&, std::stop_token) {
    meta::v1::Status status;
    status.code = 409;
    status.reason = "AlreadyExists";
    throw ApiError{status};
  });
  record("n", "other");
  EXPECT_EQ(sent().size(), 2U);
  EXPECT_EQ(sink_->attempts(), 5U);
}

}  // namespace
}  // namespace kube
