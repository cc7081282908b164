// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_correlator.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "recording_sink.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kube {
namespace {

using namespace std::chrono_literals;

class EventCorrelatorTest : public ::testing::Test {
 protected:
  core::v1::Event event(const std::string& message, const std::string& object = "web-0") {
    core::v1::Event event{.involved_object = pod_reference(object),
                          .reason = "Started",
                          .message = message,
                          .source = {.component = "kubelet", .host = "node"},
                          .first_timestamp = clock_.wall_now(),
                          .last_timestamp = clock_.wall_now(),
                          .count = 1,
                          .type = "Normal"};
    event.metadata.name = object + "." + std::to_string(++number_);
    return event;
  }

  testkit::FakeClock clock_;
  EventCorrelator correlator_{clock_};
  int number_ = 0;
};

// EV-6
TEST_F(EventCorrelatorTest, CountsEqualEvents) {
  const auto first = correlator_.correlate(event("pulled"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->patch, "");
  EXPECT_EQ(first->event.count, 1);
  const auto created = first->event.first_timestamp;
  clock_.advance(90s);

  const auto second = correlator_.correlate(event("pulled"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->patch,
            R"({"count":2,"lastTimestamp":"2026-01-01T00:01:30Z","message":"pulled"})");
  EXPECT_EQ(second->event.count, 2);
  EXPECT_EQ(second->event.metadata.name, "web-0.1");
  EXPECT_EQ(second->event.first_timestamp, created);
  EXPECT_EQ(correlator_.correlate(event("pulled"))->event.count, 3);
}

// EV-6: each field of the key distinguishes events.
TEST_F(EventCorrelatorTest, DistinguishesDifferentEvents) {
  const auto is_new = [&](auto change) {
    core::v1::Event other = event("pulled");
    change(other);
    return correlator_.correlate(std::move(other))->patch.empty();
  };
  EXPECT_TRUE(is_new([](auto&) {}));
  EXPECT_FALSE(is_new([](auto&) {}));
  EXPECT_TRUE(is_new([](auto& other) { other.message = "pushed"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.reason = "Other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.type = "Warning"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.source.host = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.source.component = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.reporting_component = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.reporting_instance = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.involved_object.uid = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.involved_object.kind = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.involved_object.api_version = "other"; }));
  EXPECT_TRUE(is_new([](auto& other) { other.involved_object.field_path = "spec.containers{a}"; }));
  EXPECT_FALSE(is_new([](auto& other) { other.involved_object.resource_version = "7"; }));
}

// EV-5
TEST_F(EventCorrelatorTest, CombinesSimilarEventsFromTheTenthMessageOn) {
  for (int i = 1; i <= 9; ++i) {
    const auto result = correlator_.correlate(event("message " + std::to_string(i)));
    EXPECT_EQ(result->event.message, "message " + std::to_string(i));
    EXPECT_EQ(result->patch, "");
  }
  const auto tenth = correlator_.correlate(event("message 10"));
  EXPECT_EQ(tenth->event.message, "(combined from similar events): message 10");
  EXPECT_EQ(tenth->patch, "");
  EXPECT_EQ(tenth->event.count, 1);
  clock_.advance(600s);
  const auto eleventh = correlator_.correlate(event("message 11"));
  EXPECT_EQ(eleventh->event.message, "(combined from similar events): message 11");
  EXPECT_EQ(eleventh->event.count, 2);
  EXPECT_EQ(eleventh->event.metadata.name, tenth->event.metadata.name);
  EXPECT_NE(eleventh->patch.find("message 11"), std::string::npos);
  EXPECT_EQ(correlator_.correlate(event("message 1", "other"))->event.message, "message 1");
}

// EV-5: the pause counts from the last event.
TEST_F(EventCorrelatorTest, BeginsAnewAfterAPause) {
  for (int i = 1; i <= 9; ++i) {
    (void)correlator_.correlate(event("message " + std::to_string(i)));
    clock_.advance(600s);
  }
  EXPECT_NE(correlator_.correlate(event("message 10"))->event.message, "message 10");
  clock_.advance(601s);
  EXPECT_EQ(correlator_.correlate(event("message 11"))->event.message, "message 11");
}

// EV-7, EV-4
TEST_F(EventCorrelatorTest, DropsSpamAboutOneObject) {
  int passed = 0;
  for (int i = 0; i < 40; ++i) passed += correlator_.correlate(event("same")) ? 1 : 0;
  EXPECT_EQ(passed, 25);
  core::v1::Event other_reason = event("other");
  other_reason.reason = "Other";  // not part of the key
  EXPECT_FALSE(correlator_.correlate(other_reason));
  EXPECT_TRUE(correlator_.correlate(event("same", "other-object")));
  core::v1::Event warning = event("same");
  warning.type = "Warning";
  EXPECT_TRUE(correlator_.correlate(warning));

  clock_.advance(300s - 1ms);
  EXPECT_FALSE(correlator_.correlate(event("same")));
  clock_.advance(1ms);
  const auto next = correlator_.correlate(event("same"));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->event.count, 42);  // dropped events were counted before
  EXPECT_FALSE(correlator_.correlate(event("same")));
}

// EV-7
TEST_F(EventCorrelatorTest, EvictsTheLeastRecentlyUsedEntry) {
  EventCorrelator small{clock_, {.cache_size = 2}};
  EXPECT_EQ(EventCorrelatorOptions{}.cache_size, 4096U);
  (void)small.correlate(event("m", "a"));
  (void)small.correlate(event("m", "b"));
  (void)small.correlate(event("m", "a"));
  (void)small.correlate(event("m", "c"));  // evicts b
  EXPECT_NE(small.correlate(event("m", "a"))->patch, "");
  EXPECT_EQ(small.correlate(event("m", "b"))->patch, "");
}

}  // namespace
}  // namespace kube
