// SPDX-License-Identifier: Apache-2.0
#include <kube/api/errors.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/controller/client_event_sink.hpp>
#include <kube/controller/lease_candidate.hpp>
#include <kube/controller/lease_lock.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "recording_sink.hpp"
#include "unit/client/fixture.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using coordination::v1::Lease;
using coordination::v1beta1::LeaseCandidate;
using test::FakeAnswer;

constexpr auto kDeadline = 10s;
constexpr const char* kLease =
    R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"lock",)"
    R"("namespace":"team-a","resourceVersion":"7","labels":{"theirs":"1","ours":"old"}},)"
    R"("spec":{"holderIdentity":"other","leaseDurationSeconds":15,"leaseTransitions":2}})";

class ClientAdapters : public ::testing::Test {
 protected:
  void answer(FakeAnswer answer) { scripted_.transport->answer(std::move(answer)); }
  HttpRequest last() { return scripted_.transport->last(); }
  Lease sent_lease() { return *decode_protobuf<Lease>(last().body); }
  LeaseLock lock() {
    return {scripted_.client(),
            {.namespace_ = "team-a",
             .name = "lock",
             .identity = "me",
             .labels = {{"ours", "new"}},
             .recorder = recorder_,
             .clock = &clock_}};
  }

  test::Scripted scripted_;
  testkit::FakeClock clock_;
  std::shared_ptr<RecordingSink<core::v1::Event>> events_ =
      std::make_shared<RecordingSink<core::v1::Event>>();
  std::shared_ptr<EventRecorder> recorder_ = std::make_shared<EventRecorder>(
      events_, EventRecorderOptions{.component = "c", .host = "h", .clock = &clock_});
  const LeaderElectionRecord record_{.holder_identity = "me", .lease_duration_seconds = 15};
};

// LE-1, LE-4, LE-11
TEST_F(ClientAdapters, KeepTheLockInALease) {
  LeaseLock locked = lock();
  EXPECT_EQ(locked.identity(), "me");
  EXPECT_EQ(locked.describe(), "team-a/lock");
  EXPECT_THROW(locked.update(record_, {}), Error);

  answer(FakeAnswer::json(test::status_json(404, "NotFound"), 404));
  EXPECT_EQ(locked.get({}), std::nullopt);
  EXPECT_EQ(last().target, "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/lock");

  answer(FakeAnswer::json(kLease, 201));
  locked.create(record_, {});
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(sent_lease().metadata.name, "lock");
  EXPECT_EQ(sent_lease().metadata.labels.at("ours"), "new");
  EXPECT_EQ(to_record(sent_lease().spec), record_);

  answer(FakeAnswer::json(kLease));
  const auto found = locked.get({});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->holder_identity, "other");
  EXPECT_EQ(found->leader_transitions, 2);

  answer(FakeAnswer::json(kLease));
  locked.update(record_, {});
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(sent_lease().metadata.resource_version, "7");
  EXPECT_EQ(sent_lease().metadata.labels.at("ours"), "new");
  EXPECT_EQ(sent_lease().metadata.labels.at("theirs"), "1");
  EXPECT_EQ(sent_lease().spec.holder_identity, "me");

  answer(FakeAnswer::json(test::status_json(409, "Conflict"), 409));
  EXPECT_TRUE(is_conflict(test::api_error([&] { locked.update(record_, {}); })));
}

// LE-11
TEST_F(ClientAdapters, RecordEventsOnTheLease) {
  LeaseLock locked = lock();
  locked.record_event("me became leader");
  ASSERT_TRUE(recorder_->flush(1h));
  ASSERT_EQ(events_->calls().size(), 1U);
  const core::v1::Event event = events_->calls()[0].event;
  EXPECT_EQ(event.reason, "LeaderElection");
  EXPECT_EQ(event.message, "me became leader");
  EXPECT_EQ(event.involved_object.kind, "Lease");
  EXPECT_EQ(event.involved_object.api_version, "coordination.k8s.io/v1");
  EXPECT_EQ(event.involved_object.name, "lock");
  EXPECT_EQ(event.involved_object.namespace_, "team-a");

  recorder_ = nullptr;
  EXPECT_NO_THROW(lock().record_event("nobody listens"));
}

// LE-13
TEST_F(ClientAdapters, GiveUpACallAtItsDeadlineAndOnAStop) {
  EXPECT_EQ(election_config({}, 10s).timeout, 5s);
  EXPECT_EQ(election_config({}, 1s).timeout, 1s);
  for (const bool stops : {false, true}) {
    answer({.chunks = {"{"}, .hangs = true});
    std::stop_source stop;
    LeaseLock locked = lock();
    auto got = std::async(std::launch::async,
                          [&] { return locked.get({.timeout = 3s, .stop = stop.get_token()}); });
    ASSERT_TRUE(clock_.wait_for_sleepers(1));
    if (stops) {
      stop.request_stop();
    } else {
      clock_.advance(3s);
    }
    ASSERT_EQ(got.wait_for(kDeadline), std::future_status::ready);
    EXPECT_THROW((void)got.get(), Error);
  }
}

// EV-6, EV-21
TEST_F(ClientAdapters, SendEventsToTheServer) {
  ClientEventSink<core::v1::Event> sink{scripted_.client()};
  core::v1::Event event{.reason = "R", .type = "Normal"};
  event.metadata.name = "web.1";
  event.metadata.namespace_ = "team-a";
  const std::string stored =
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"web.1","resourceVersion":"3"}})";
  answer(FakeAnswer::json(stored, 201));
  EXPECT_EQ(sink.create(event, {}).metadata.resource_version, "3");
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "/api/v1/namespaces/team-a/events");

  answer(FakeAnswer::json(stored));
  (void)sink.patch(event, R"({"count":2})", {});
  EXPECT_EQ(last().method, "PATCH");
  EXPECT_EQ(last().target, "/api/v1/namespaces/team-a/events/web.1");
  EXPECT_EQ(last().body, R"({"count":2})");
  EXPECT_EQ(test::header(last(), "Content-Type"), "application/strategic-merge-patch+json");
}

// LE-15
TEST_F(ClientAdapters, PublishACandidateAndRenewIt) {
  const std::string stored =
      R"({"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1beta1","metadata":)"
      R"({"name":"me","namespace":"team-a","resourceVersion":"3"},"spec":{"leaseName":"lock"}})";
  LeaseCandidatePublisher publisher{scripted_.client(),
                                    {.namespace_ = "team-a",
                                     .name = "me",
                                     .lease_name = "lock",
                                     .binary_version = "1.36.4",
                                     .emulation_version = "1.36.0",
                                     .clock = &clock_,
                                     .random = [] { return 0.0; }}};
  answer(FakeAnswer::json(test::status_json(404, "NotFound"), 404));
  answer(FakeAnswer::json(stored, 201));
  std::jthread thread{[&](std::stop_token stop) { publisher.run(stop); }};
  const auto sent = [&] { return *decode_protobuf<LeaseCandidate>(last().body); };
  const auto pass = [&](Clock::Duration by) {
    answer(FakeAnswer::json(stored));
    answer(FakeAnswer::json(stored));
    clock_.advance(by);
    return clock_.wait_for_sleepers(1);
  };
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "/apis/coordination.k8s.io/v1beta1/namespaces/team-a/leasecandidates");
  EXPECT_EQ(sent().spec.lease_name, "lock");
  EXPECT_EQ(sent().spec.binary_version, "1.36.4");
  EXPECT_EQ(sent().spec.emulation_version, "1.36.0");
  EXPECT_EQ(sent().spec.strategy, "OldestEmulationVersion");
  EXPECT_EQ(sent().spec.renew_time, MicroTime{clock_.wall_now()});
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 5min);

  ASSERT_TRUE(pass(5min));
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(sent().metadata.resource_version, "3");
  EXPECT_EQ(sent().spec.renew_time, MicroTime{clock_.wall_now()});

  // A ping is answered immediately; one that was answered before, and one to another candidate, is
  // not.
  clock_.advance(1min);
  LeaseCandidate seen = sent();
  seen.spec.ping_time = seen.spec.renew_time;
  publisher.observe(seen);
  seen.spec.ping_time = MicroTime{clock_.wall_now()};
  seen.metadata.name = "other";
  publisher.observe(seen);
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 4min);
  answer(FakeAnswer::json(stored));
  answer(FakeAnswer::error(TransportError::Kind::kTimeout));
  seen.metadata.name = "me";
  publisher.observe(seen);
  while (clock_.next_deadline() != clock_.now() + 1s) std::this_thread::yield();  // it failed
  ASSERT_TRUE(pass(1s));
  EXPECT_EQ(sent().spec.renew_time, MicroTime{clock_.wall_now()});
}

}  // namespace
}  // namespace kube
