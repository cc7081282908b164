// SPDX-License-Identifier: Apache-2.0
// Polled requests (RC-74, RC-75).
#include "../../../src/client/send_operation.hpp"

#include <kube/base/metrics.hpp>
#include <kube/client/rate_limiter.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polling_fixture.hpp"

namespace kube::test {
namespace {

using namespace std::chrono_literals;
using detail::Poll;
using detail::Request;
using detail::SendOperation;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = TransportError::Kind;

constexpr auto kNever = Clock::TimePoint::max();

/// A limiter that records the stop tokens of its waits.
class SlowLimiter final : public RateLimiter {
 public:
  [[nodiscard]] bool wait(std::stop_token stop) override {
    stops.push_back(stop);
    return !stop.stop_requested();
  }
  std::vector<std::stop_token> stops;
};

struct SendOperationTest : PollingTest {
  std::string body_of(detail::PolledStream& stream) {
    std::string body;
    for (auto chunk = stream.poll_read(); chunk && !chunk->empty(); chunk = stream.poll_read()) {
      body += *chunk;
    }
    return body;
  }
  Request request = get();
};

// RC-74
TEST_F(SendOperationTest, SendsWithTheFirstPollAndIsReadyWithTheHead) {
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(transport->size(), 0U);

  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 1U);
  EXPECT_EQ(transport->last().request.target, "/api/v1/pods");
  EXPECT_EQ(operation.wake_at(), kNever);
  EXPECT_EQ(waker->take(), 0);

  transport->last().answer(200);
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(operation.poll(), Poll::kReady);
  const auto stream = operation.take();
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  transport->last().send("hello");
  transport->last().end();
  EXPECT_EQ(body_of(*stream), "hello");
}

// RC-74: a reservation is a time, not a blocked thread; blocking callers get the same times.
TEST_F(SendOperationTest, WaitsForTheRateLimit) {
  scripted.config.qps = 1;
  scripted.config.burst = 1;
  scripted.options.metrics = std::make_shared<Metrics>();
  SendOperation first{rest(), request, poller()};
  SendOperation second{rest(), request, poller()};
  SendOperation third{rest(), request, poller()};
  EXPECT_EQ(first.poll(), Poll::kPending);
  EXPECT_EQ(second.poll(), Poll::kPending);
  EXPECT_EQ(third.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 1U);
  EXPECT_EQ(second.wake_at() - scripted.clock.now(), 1s);
  EXPECT_EQ(third.wake_at() - scripted.clock.now(), 2s);

  scripted.clock.advance(1s);
  EXPECT_EQ(second.poll(), Poll::kPending);
  EXPECT_EQ(third.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 2U);
  EXPECT_EQ(second.wake_at(), kNever);
  EXPECT_THAT(
      scripted.options.metrics->text(),
      HasSubstr(R"(rest_client_rate_limiter_duration_seconds_sum{host="server",verb="GET"} 1)"));
}

// RC-74
TEST_F(SendOperationTest, ReturnsItsTokenWhenDestroyed) {
  scripted.config.qps = 1;
  scripted.config.burst = 1;
  SendOperation first{rest(), request, poller()};
  EXPECT_EQ(first.poll(), Poll::kPending);
  {
    SendOperation canceled{rest(), request, poller()};
    EXPECT_EQ(canceled.poll(), Poll::kPending);
  }
  SendOperation next{rest(), request, poller()};
  EXPECT_EQ(next.poll(), Poll::kPending);
  EXPECT_EQ(next.wake_at() - scripted.clock.now(), 1s);
}

// RC-75
TEST_F(SendOperationTest, LetsAWorkerWaitForALimiterOfTheProgram) {
  const auto limiter = std::make_shared<SlowLimiter>();
  scripted.options.rate_limiter = limiter;
  {
    SendOperation operation{rest(), request, poller()};
    EXPECT_EQ(operation.poll(), Poll::kPending);
    EXPECT_TRUE(limiter->stops.empty());

    run_workers();
    EXPECT_EQ(limiter->stops.size(), 1U);
    EXPECT_EQ(waker->take(), 1);
    EXPECT_EQ(operation.poll(), Poll::kPending);
    EXPECT_EQ(transport->size(), 1U);
  }
  // Destroying the operation stops the limiter's wait.
  auto canceled = std::make_unique<SendOperation>(rest(), request, poller());
  EXPECT_EQ(canceled->poll(), Poll::kPending);
  canceled.reset();
  run_workers();
  ASSERT_EQ(limiter->stops.size(), 2U);
  EXPECT_TRUE(limiter->stops.back().stop_requested());
  EXPECT_EQ(transport->size(), 1U);
}

// RC-75: the times of a bucket with another clock cannot be compared with this one.
TEST_F(SendOperationTest, LetsAWorkerWaitForABucketOfAnotherClock) {
  SteppingClock other;
  const auto bucket = std::make_shared<TokenBucket>(1, 1, other);
  scripted.options.rate_limiter = bucket;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(operation.wake_at(), kNever);
  EXPECT_EQ(transport->size(), 0U);
  run_workers();
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 1U);
}

// RC-74: Retry-After, host back-off and the limit of attempts.
TEST_F(SendOperationTest, TriesAgainWhenTheServerAsksForIt) {
  scripted.options.max_retries = 1;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().answer(429, {{"Retry-After", "7"}});
  EXPECT_EQ(operation.poll(), Poll::kPending);  // reads the discarded body
  EXPECT_EQ(operation.wake_at(), kNever);
  transport->last().send("later");
  transport->last().end();
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_TRUE(transport->last().canceled) << "the answer is not kept during the pause";
  EXPECT_EQ(operation.wake_at() - scripted.clock.now(), 7s);

  scripted.clock.advance(6999ms);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 1U);
  scripted.clock.advance(1ms);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_EQ(operation.wake_at(), kNever);

  transport->last().answer(503, {{"Retry-After", "7"}, {"Content-Type", "application/json"}});
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().send(status_json(503, "ServiceUnavailable"));
  transport->last().end();
  EXPECT_EQ(api_error([&] { (void)operation.poll(); }).code(), 503);
}

// RC-74
TEST_F(SendOperationTest, WaitsForTheBackOffOfTheHost) {
  scripted.variables = {{"KUBE_CLIENT_BACKOFF_BASE", "4"}, {"KUBE_CLIENT_BACKOFF_DURATION", "60"}};
  {
    SendOperation operation{rest(), request, poller()};
    EXPECT_EQ(operation.poll(), Poll::kPending);
    transport->last().answer(500);
    transport->last().end();
    EXPECT_THROW((void)operation.poll(), ApiError);
  }
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 1U);
  EXPECT_EQ(operation.wake_at() - scripted.clock.now(), 4s);
  scripted.clock.advance(4s);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 2U);
}

// RC-74
TEST_F(SendOperationTest, TriesAgainAfterALostConnectionUnlessTheRequestWrites) {
  SendOperation read{rest(), request, poller()};
  EXPECT_EQ(read.poll(), Poll::kPending);
  transport->last().fail(Kind::kConnectionLost);
  EXPECT_EQ(read.poll(), Poll::kPending);
  EXPECT_EQ(read.wake_at() - scripted.clock.now(), 1s);
  scripted.clock.advance(1s);
  EXPECT_EQ(read.poll(), Poll::kPending);
  transport->last().answer(200);
  EXPECT_EQ(read.poll(), Poll::kReady);
  EXPECT_EQ(transport->size(), 2U);

  request.method = "POST";
  SendOperation write{rest(), request, poller()};
  EXPECT_EQ(write.poll(), Poll::kPending);
  transport->last().fail(Kind::kConnectionLost);
  try {
    (void)write.poll();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), Kind::kConnectionLost);
    EXPECT_THAT(error.what(), HasSubstr("POST https://server/api/v1/pods"));
  }
}

// RC-74
TEST_F(SendOperationTest, AWatchThatCannotBeOpenedForTransientReasonsHasNoStream) {
  scripted.options.max_retries = 1;
  request.kind = Request::Kind::kWatch;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->last().request.lane, Lane::kWatches);
  transport->last().fail(Kind::kTimeout);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  scripted.clock.advance(1s);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().fail(Kind::kConnectionLost);
  EXPECT_EQ(operation.poll(), Poll::kReady);
  EXPECT_EQ(operation.take(), nullptr);
}

// RC-74: also for a watch, where a timeout of the transport causes a retry.
TEST_F(SendOperationTest, FailsIfThereIsNoTimeForAnotherTry) {
  request.kind = Request::Kind::kWatch;
  request.timeout = 5000ms;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->last().request.timeout, 5000ms);
  transport->last().answer(503, {{"Retry-After", "6"}});
  transport->last().end();
  try {
    (void)operation.poll();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), Kind::kTimeout);
    EXPECT_THAT(error.what(), HasSubstr("too short for another try"));
  }
}

// RC-74
TEST_F(SendOperationTest, ReadsTheErrorAsItArrives) {
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  const std::string status = status_json(403, "Forbidden", "not you");
  transport->last().answer(403);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().send(status.substr(0, 20));
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().send(status.substr(20));
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().end();
  EXPECT_EQ(api_error([&] { (void)operation.poll(); }).status().message, "not you");
}

// RC-74
TEST_F(SendOperationTest, AnErrorThatIsCutOffKeepsItsCode) {
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  transport->last().answer(403);
  transport->last().send(R"({"kind":"Status)");
  transport->last().fail(Kind::kConnectionLost);
  EXPECT_TRUE(is_forbidden(api_error([&] { (void)operation.poll(); })));
}

// RC-75
TEST_F(SendOperationTest, NeedsNoWorkerForCachedCredentials) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  scripted.options.credentials = credentials;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 1U);
  EXPECT_EQ(header(transport->last().request, "Authorization"), "Bearer one");
  EXPECT_EQ(credentials->renewals, 0);

  transport->last().answer(401);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_THAT(credentials->refusals, ElementsAre("Bearer one"));
}

// RC-75
TEST_F(SendOperationTest, RunsAPluginOnceForAllThatWaitForIt) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  credentials->is_ready = false;
  credentials->is_finished = false;
  scripted.options.credentials = credentials;
  SendOperation one{rest(), request, poller()};
  SendOperation two{rest(), request, poller()};
  auto canceled = std::make_unique<SendOperation>(rest(), request, poller());
  EXPECT_EQ(one.poll(), Poll::kPending);
  EXPECT_EQ(two.poll(), Poll::kPending);
  EXPECT_EQ(canceled->poll(), Poll::kPending);
  run_workers();
  canceled.reset();
  run_workers();
  EXPECT_EQ(one.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 0U);
  EXPECT_EQ(credentials->running, 1) << "others wait for it";

  credentials->finish();
  run_workers();
  EXPECT_EQ(credentials->renewals, 1);
  EXPECT_GE(waker->take(), 2);
  EXPECT_EQ(one.poll(), Poll::kPending);
  EXPECT_EQ(two.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_EQ(header(transport->last().request, "Authorization"), "Bearer one");
}

// RC-75
TEST_F(SendOperationTest, SharesTheErrorOfAPluginAndRunsItAgainLater) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  credentials->is_ready = false;
  credentials->fails = true;
  scripted.options.credentials = credentials;
  SendOperation one{rest(), request, poller()};
  SendOperation two{rest(), request, poller()};
  EXPECT_EQ(one.poll(), Poll::kPending);
  EXPECT_EQ(two.poll(), Poll::kPending);
  run_workers();
  EXPECT_THROW((void)one.poll(), ConfigError);
  EXPECT_THROW((void)two.poll(), ConfigError);
  EXPECT_EQ(credentials->renewals, 1);

  SendOperation later{rest(), request, poller()};
  EXPECT_EQ(later.poll(), Poll::kPending);
  run_workers();
  EXPECT_EQ(credentials->renewals, 2);
}

// RC-75
TEST_F(SendOperationTest, StopsAPluginThatNoRequestNeeds) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  credentials->is_ready = false;
  credentials->is_finished = false;
  scripted.options.credentials = credentials;
  auto operation = std::make_unique<SendOperation>(rest(), request, poller());
  EXPECT_EQ(operation->poll(), Poll::kPending);
  run_workers();
  EXPECT_EQ(credentials->running, 1);
  operation.reset();
  run_workers();
  EXPECT_EQ(credentials->running, 0);
}

// RT-13: the plugin of a Runtime is not waited for by another one, whose loop may be stuck.
TEST_F(SendOperationTest, DoesNotWaitForTheRenewalOfAnotherRuntime) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  credentials->is_ready = false;
  scripted.options.credentials = credentials;
  const auto stuck =
      std::make_shared<detail::Scheduler>(detail::WorkerPoolOptions{.threads = 0}, Logger{});
  SendOperation first{rest(), request, {.waker = waker, .scheduler = stuck}};
  EXPECT_EQ(first.poll(), Poll::kPending);
  SendOperation second{rest(), request, poller()};
  EXPECT_EQ(second.poll(), Poll::kPending);
  run_workers();
  EXPECT_EQ(second.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 1U);
  stuck->close();
}

// RC-75
TEST_F(SendOperationTest, AsksCredentialsOfTheProgramOnAWorker) {
  scripted.options.credentials = scripted.credentials;
  scripted.credentials->value = "Bearer mine";
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 0U);
  run_workers();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 1U);
  EXPECT_EQ(header(transport->last().request, "Authorization"), "Bearer mine");
}

// RC-75
TEST_F(SendOperationTest, LetsAWorkerBeginAnExchangeThatWouldBlock) {
  transport->would_block = true;
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_EQ(transport->size(), 0U);
  run_workers();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(operation.poll(), Poll::kPending);
  ASSERT_EQ(transport->size(), 1U);
  EXPECT_EQ(transport->last().request.target, "/api/v1/pods");
  transport->last().answer(200);
  EXPECT_EQ(operation.poll(), Poll::kReady);
}

// RC-75
TEST_F(SendOperationTest, CallsATransportOfTheProgramOnWorkers) {
  scripted.options.transport = scripted.transport;
  scripted.transport->answer({.chunks = {"one", "two"}});
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  EXPECT_TRUE(scripted.transport->requests().empty());
  run_workers();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(operation.poll(), Poll::kReady);

  const auto stream = operation.take();
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  EXPECT_EQ(scripted.transport->totals().reads, 0);
  run_workers();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(stream->poll_read(), "one");
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  run_workers();
  EXPECT_EQ(stream->poll_read(), "two");
}

// RC-75
TEST_F(SendOperationTest, CancelsTheReadOfAWorker) {
  scripted.options.transport = scripted.transport;
  scripted.transport->answer({.hangs = true});
  SendOperation operation{rest(), request, poller()};
  EXPECT_EQ(operation.poll(), Poll::kPending);
  run_workers();
  EXPECT_EQ(operation.poll(), Poll::kReady);
  auto stream = operation.take();
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  stream.reset();
  EXPECT_EQ(scripted.transport->totals().canceled, 1);
  EXPECT_EQ(scripted.transport->totals().open, 1) << "the worker still has it";
  run_workers();
  EXPECT_EQ(scripted.transport->totals().open, 0);
}

// RC-74: nothing leaks in any state.
TEST_F(SendOperationTest, CanBeDestroyedInEveryState) {
  const auto credentials = std::make_shared<RenewableCredentials>();
  scripted.options.credentials = credentials;
  scripted.config.qps = 1;
  scripted.config.burst = 1;
  const std::vector<std::function<void()>> steps{
      [] {},
      [&] { scripted.clock.advance(1s); },
      [&] { run_workers(); },
      [&] { run_workers(); },
      [&] {
        transport->last().answer(429, {{"Retry-After", "1"}});
      },
      [&] { transport->last().end(); },
      [&] { scripted.clock.advance(1s); },
      [&] { scripted.clock.advance(1s); },
      [&] { run_workers(); },
      [&] { run_workers(); },
      [&] { transport->last().answer(403); },
  };
  credentials->is_ready = false;
  transport->would_block = true;
  for (std::size_t count = 0; count <= steps.size(); ++count) {
    (void)rest();
    scripted.clock.advance(1h);  // the bucket is full
    const std::size_t before = transport->size();
    {
      SendOperation other{rest(), request, poller()};
      EXPECT_EQ(other.poll(), Poll::kPending);  // takes the token
      SendOperation operation{rest(), request, poller()};
      for (std::size_t step = 0; step < count; ++step) {
        steps[step]();
        EXPECT_EQ(operation.poll(), Poll::kPending) << count << ' ' << step;
      }
    }
    run_workers();
    for (std::size_t i = before; i < transport->size(); ++i) {
      EXPECT_TRUE(transport->exchange(i).canceled) << count;
    }
  }
}

}  // namespace
}  // namespace kube::test
