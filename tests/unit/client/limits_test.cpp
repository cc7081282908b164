// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/base/metrics.hpp>
#include <kube/client/rate_limiter.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using test::FakeAnswer;
using test::Scripted;
using test::SteppingClock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::chrono::milliseconds> milliseconds(const std::vector<Clock::Duration>& durations) {
  std::vector<std::chrono::milliseconds> result;
  for (const auto duration : durations) {
    result.push_back(std::chrono::round<std::chrono::milliseconds>(duration));
  }
  return result;
}

// RC-10
TEST(TokenBucket, StartsFullAndRefillsAtItsRate) {
  SteppingClock clock;
  TokenBucket bucket{5, 2, clock};
  EXPECT_TRUE(bucket.try_accept());
  EXPECT_TRUE(bucket.try_accept());
  EXPECT_FALSE(bucket.try_accept());
  clock.advance(200ms);
  EXPECT_TRUE(bucket.try_accept());
  clock.advance(1h);
  EXPECT_TRUE(bucket.try_accept());
  EXPECT_TRUE(bucket.try_accept());
  EXPECT_FALSE(bucket.try_accept());
}

TEST(TokenBucket, ReturnsTheTokenOfAStoppedWait) {
  SteppingClock clock;
  TokenBucket bucket{1, 1, clock};
  EXPECT_TRUE(bucket.wait({}));
  std::stop_source stop;
  clock.on_sleep = [&] { stop.request_stop(); };
  EXPECT_FALSE(bucket.wait(stop.get_token()));
  EXPECT_FALSE(bucket.wait(stop.get_token())) << "stopped already";
  clock.advance(1s);
  EXPECT_TRUE(bucket.try_accept());
}

// RC-74
TEST(TokenBucket, ReservesTokensWithoutWaiting) {
  SteppingClock clock;
  TokenBucket bucket{2, 1, clock};
  const Clock::TimePoint now = clock.now();
  EXPECT_EQ(bucket.reserve(), now);
  EXPECT_EQ(bucket.reserve(), now + 500ms);
  EXPECT_EQ(bucket.reserve(), now + 1s);
  bucket.give_back();
  EXPECT_EQ(bucket.reserve(), now + 1s);
  EXPECT_TRUE(clock.sleeps().empty());
}

TEST(TokenBucket, RefusesRatesThatAllowNoRequest) {
  EXPECT_THROW((TokenBucket{0, 1}), std::invalid_argument);
  EXPECT_THROW((TokenBucket{1, 0}), std::invalid_argument);
}

struct Limits : testing::Test {
  void ask(const Client& client, int times) {
    for (int i = 0; i < times; ++i) {
      scripted.transport->answer(
          FakeAnswer::json(R"({"kind":"PodList","apiVersion":"v1","items":[]})"));
      (void)client.resource<Pod>().list();
    }
  }
  Scripted scripted;
};

// RC-10
TEST_F(Limits, AreFivePerSecondAndTenAtOnceForEachGroupVersion) {
  scripted.config.qps = 0;
  const Client client = scripted.client();
  ask(client, 10);
  EXPECT_THAT(scripted.clock.sleeps(), IsEmpty());
  ask(client, 2);
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(200ms, 200ms));
  // Another group version has a bucket of its own.
  scripted.transport->answer(
      FakeAnswer::json(R"({"kind":"DeploymentList","apiVersion":"apps/v1","items":[]})"));
  (void)client.resource<apps::v1::Deployment>().list();
  EXPECT_EQ(scripted.clock.sleeps().size(), 2U);
}

// RC-10
TEST_F(Limits, OfTheConfigurationHoldForAllGroupVersionsTogether) {
  scripted.config.qps = 10;
  scripted.config.burst = 1;
  const Client client = scripted.client();
  ask(client, 1);
  scripted.transport->answer(
      FakeAnswer::json(R"({"kind":"DeploymentList","apiVersion":"apps/v1","items":[]})"));
  (void)client.resource<apps::v1::Deployment>().list();
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(100ms));

  scripted.config.burst = 0;
  EXPECT_THROW(scripted.client(), ConfigError);
}

// RC-10
TEST_F(Limits, AreOffWithANegativeRate) {
  ask(scripted.client(), 100);
  EXPECT_THAT(scripted.clock.sleeps(), IsEmpty());
}

struct CountingLimiter : RateLimiter {
  bool wait(std::stop_token) override {
    ++asked;
    return allows;
  }
  int asked = 0;
  bool allows = true;
};

// RC-10, RC-11
TEST_F(Limits, MayBeReplacedByALimiterThatIsCalledOncePerAttempt) {
  const auto limiter = std::make_shared<CountingLimiter>();
  scripted.options.rate_limiter = limiter;
  const Client client = scripted.client();
  ask(client, 3);
  EXPECT_EQ(limiter->asked, 3);

  scripted.transport->answer(FakeAnswer::text("", 503).with("Retry-After", "1"));
  ask(client, 1);
  EXPECT_EQ(limiter->asked, 5);
}

// RC-11
TEST_F(Limits, DoNotHoldForTheFirstAttemptOfAWatch) {
  const auto limiter = std::make_shared<CountingLimiter>();
  scripted.options.rate_limiter = limiter;
  const Client client = scripted.client();
  scripted.transport->answer({});
  (void)client.resource<Pod>().watch();
  EXPECT_EQ(limiter->asked, 0);
  scripted.transport->answer(FakeAnswer::text("", 503).with("Retry-After", "1")).answer({});
  (void)client.resource<Pod>().watch();
  EXPECT_EQ(limiter->asked, 1);
}

// RC-11
TEST_F(Limits, CanBeWaitedForUntilAStop) {
  const auto limiter = std::make_shared<CountingLimiter>();
  limiter->allows = false;
  scripted.options.rate_limiter = limiter;
  try {
    (void)scripted.client().resource<Pod>().list();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCanceled);
  }
  EXPECT_THAT(scripted.transport->requests(), IsEmpty());
}

// RC-12
TEST_F(Limits, AreLoggedWhenTheyDelayRequests) {
  scripted.config.qps = 0.5;
  scripted.config.burst = 1;
  scripted.options.log = Logger{[this](LogLevel level, std::string_view, std::string_view text) {
    scripted.log.emplace_back(level, text);
  }};
  const Client client = scripted.client();
  ask(client, 8);  // 7 waits of 2 s
  std::vector<std::string> lines;
  for (const auto& [level, text] : scripted.log) lines.push_back(text);
  ASSERT_EQ(lines.size(), 2U) << "once per 10 s";
  EXPECT_THAT(lines[0], HasSubstr("waited 2.000 s"));
  EXPECT_THAT(lines[0], HasSubstr("qps and burst"));
}

// RC-12
TEST_F(Limits, AreLoggedMoreOftenAtDebugLevel) {
  scripted.config.qps = 0.5;
  scripted.config.burst = 1;
  const Client client = scripted.client();
  ask(client, 4);
  int info = 0;
  int debug = 0;
  for (const auto& [level, text] : scripted.log) {
    if (text.find("waited") == std::string::npos) continue;
    ++(level == LogLevel::kDebug ? debug : info);
  }
  EXPECT_EQ(debug, 3);
  EXPECT_EQ(info, 3);
}

struct Retries : Limits {
  FakeAnswer busy(int status, std::string retry_after) {
    return FakeAnswer::text("busy", status).with("Retry-After", std::move(retry_after));
  }
  std::size_t attempts() const { return scripted.transport->requests().size(); }
};

// RC-13, RC-14
TEST_F(Retries, HappenAfterRetryAfter) {
  const Client client = scripted.client();
  scripted.transport->answer(busy(429, "3")).answer(busy(500, "1")).answer(busy(503, "0"));
  ask(client, 1);
  EXPECT_EQ(attempts(), 4U);
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(3000ms, 1000ms));
}

// RC-13, RC-14
TEST_F(Retries, DoNotHappenWithoutAPlainNumber) {
  const Client client = scripted.client();
  for (const char* when : {"", "Fri, 31 Dec 2026 23:59:59 GMT", "1.5", "-1", "1 "}) {
    scripted.transport->answer(busy(503, when));
    EXPECT_THROW((void)client.resource<Pod>().list(), ApiError) << when;
  }
  scripted.transport->answer(busy(409, "1")).answer(busy(302, "1"));
  EXPECT_THROW((void)client.resource<Pod>().list(), ApiError);
  EXPECT_THROW((void)client.resource<Pod>().list(), ApiError);
  EXPECT_EQ(attempts(), 7U);
}

// RC-13
TEST_F(Retries, EndAfterTenWithTheLastResponse) {
  const Client client = scripted.client();
  for (int i = 0; i < 11; ++i) scripted.transport->answer(busy(429, std::to_string(i)));
  const ApiError error = test::api_error([&] { (void)client.resource<Pod>().list(); });
  EXPECT_TRUE(is_too_many_requests(error));
  EXPECT_EQ(error.retry_after(), 10s);
  EXPECT_EQ(attempts(), 11U);
}

// RC-13
TEST_F(Retries, CanBeTurnedOff) {
  scripted.options.max_retries = 0;
  scripted.transport->answer(busy(429, "1"));
  EXPECT_THROW((void)scripted.client().resource<Pod>().list(), ApiError);
  EXPECT_EQ(attempts(), 1U);
}

// RC-13: also writes, since the server has not processed them.
TEST_F(Retries, OfWritesSendTheSameBodyAgain) {
  scripted.transport->answer(busy(429, "1")).answer(FakeAnswer::json(test::pod_json("a"), 201));
  scripted.client().resource<Pod>("shop").create({.metadata = {.name = "a"}});
  const auto requests = scripted.transport->requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].body, requests[1].body);
  EXPECT_FALSE(requests[1].body.empty());
}

// RC-15
TEST_F(Retries, OfLostConnectionsAreForGetOnly) {
  using Kind = TransportError::Kind;
  const Client client = scripted.client();
  scripted.transport->answer(FakeAnswer::error(Kind::kConnectionLost));
  ask(client, 1);
  EXPECT_EQ(attempts(), 2U);
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(1000ms));

  scripted.transport->answer(FakeAnswer::error(Kind::kConnectionLost));
  EXPECT_THROW(client.resource<Pod>("shop").create({}), TransportError);
  EXPECT_EQ(attempts(), 3U);

  for (const Kind kind : {Kind::kConnect, Kind::kResolve, Kind::kTls, Kind::kTimeout,
                          Kind::kProtocol, Kind::kProxy, Kind::kCanceled}) {
    scripted.transport->answer(FakeAnswer::error(kind));
    EXPECT_THROW((void)client.resource<Pod>().list(), TransportError);
  }
  EXPECT_EQ(attempts(), 10U);
}

// RC-15
TEST_F(Retries, OfLostConnectionsEndAfterElevenAttempts) {
  scripted.transport->on_request(
      [](const HttpRequest&) { return FakeAnswer::error(TransportError::Kind::kConnectionLost); });
  try {
    (void)scripted.client().resource<Pod>().list();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kConnectionLost);
    EXPECT_THAT(error.what(), HasSubstr("GET https://server/api/v1/pods"));
  }
  EXPECT_EQ(attempts(), 11U);
}

// RC-15
TEST_F(Retries, OfAWatchEndInAnEmptyWatch) {
  for (const auto kind : {TransportError::Kind::kConnectionLost, TransportError::Kind::kTimeout}) {
    Scripted one;
    one.transport->on_request([kind](const HttpRequest&) { return FakeAnswer::error(kind); });
    Watch<Pod> watch = one.client().resource<Pod>().watch();
    EXPECT_EQ(watch.next(), std::nullopt);
    EXPECT_EQ(one.transport->requests().size(), 11U);
  }
}

// RC-16
TEST_F(Retries, ReadLittleOfADiscardedBody) {
  FakeAnswer endless = busy(503, "0");
  endless.chunks.assign(1000, std::string(1024, 'x'));
  scripted.transport->answer(std::move(endless));
  ask(scripted.client(), 1);
  EXPECT_LE(scripted.transport->totals().reads, 3 + 2);
  EXPECT_EQ(scripted.transport->totals().open, 0);
}

TEST_F(Retries, EndWithAStop) {
  std::stop_source stop;
  scripted.clock.on_sleep = [&] { stop.request_stop(); };
  scripted.transport->answer(busy(503, "5"));
  try {
    (void)scripted.client().resource<Pod>().list({}, stop.get_token());
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCanceled);
  }
  EXPECT_EQ(attempts(), 1U);
}

TEST_F(Retries, DoNotGoBeyondTheTimeOfTheRequest) {
  scripted.transport->answer(busy(503, "5"));
  try {
    (void)scripted.client().resource<Pod>().list({.timeout = 4s});
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kTimeout);
  }
  scripted.transport->answer(busy(503, "3"));
  ask(scripted.client(), 0);
  scripted.transport->answer(
      FakeAnswer::json(R"({"kind":"PodList","apiVersion":"v1","items":[]})"));
  (void)scripted.client().resource<Pod>().list({.timeout = 4s});
  EXPECT_EQ(scripted.transport->last().timeout, 1s) << "the remaining time";
}

// RC-17
TEST_F(Retries, BackOffIfTheEnvironmentEnablesIt) {
  scripted.variables = {{"KUBE_CLIENT_BACKOFF_BASE", "2"}, {"KUBE_CLIENT_BACKOFF_DURATION", "5"}};
  const Client client = scripted.client();
  for (int i = 0; i < 3; ++i) scripted.transport->answer(FakeAnswer::text("", 500));
  for (int i = 0; i < 3; ++i) EXPECT_THROW((void)client.resource<Pod>().list(), ApiError);
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(2000ms, 4000ms));
  ask(client, 2);  // after 5 s, the cap; success then resets it
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(2000ms, 4000ms, 5000ms));
}

// RC-14, RC-17
TEST_F(Retries, WaitForTheLongerOfHeaderAndEnvironment) {
  scripted.variables = {{"KUBE_CLIENT_BACKOFF_BASE", "2"}, {"KUBE_CLIENT_BACKOFF_DURATION", "9"}};
  scripted.transport->answer(busy(429, "1")).answer(busy(429, "7"));
  ask(scripted.client(), 1);
  EXPECT_THAT(milliseconds(scripted.clock.sleeps()), ElementsAre(2000ms, 7000ms));
}

// RC-17
TEST_F(Retries, NeedBothVariablesOfTheEnvironment) {
  for (const auto& variables : std::vector<std::map<std::string, std::string>>{
           {{"KUBE_CLIENT_BACKOFF_BASE", "2"}},
           {{"KUBE_CLIENT_BACKOFF_BASE", "2"}, {"KUBE_CLIENT_BACKOFF_DURATION", "x"}}}) {
    scripted.variables = variables;
    scripted.transport->answer(FakeAnswer::text("", 500));
    const Client client = scripted.client();
    EXPECT_THROW((void)client.resource<Pod>().list(), ApiError);
    ask(client, 1);
  }
  EXPECT_THAT(scripted.clock.sleeps(), IsEmpty());
}

// RC-18
TEST_F(Limits, OfTimeHoldForTheWholeExchangeAlsoForWatches) {
  scripted.config.timeout = 7s;
  const Client client = scripted.client();
  scripted.transport->answer({.cut = TransportError::Kind::kTimeout});
  Watch<Pod> watch = client.resource<Pod>().watch();
  EXPECT_EQ(scripted.transport->last().timeout, 7s);
  EXPECT_EQ(watch.next(), std::nullopt) << "an ordinary end";
  ask(client, 1);
  EXPECT_EQ(scripted.transport->last().timeout, 7s);
}

// RC-18: a watch that the server should have ended is closed soon after.
TEST_F(Limits, OfTimeHoldForWatchesThatTheServerDoesNotEnd) {
  scripted.transport->answer({});
  (void)scripted.client().resource<Pod>().watch({.timeout = 300s});
  EXPECT_EQ(scripted.transport->last().timeout, 330s);
  scripted.transport->answer({});
  (void)scripted.client().resource<Pod>().watch();
  EXPECT_EQ(scripted.transport->last().timeout, std::nullopt);
  scripted.config.timeout = 7s;
  scripted.transport->answer({});
  (void)scripted.client().resource<Pod>().watch({.timeout = 300s});
  EXPECT_EQ(scripted.transport->last().timeout, 7s);
}

// RC-70
TEST_F(Retries, AreCounted) {
  const auto metrics = std::make_shared<Metrics>();
  scripted.options.metrics = metrics;
  scripted.transport->answer(busy(429, "0"))
      .answer(FakeAnswer::error(TransportError::Kind::kConnectionLost));
  ask(scripted.client(), 1);
  const std::string text = metrics->text();
  for (const char* line :
       {R"(rest_client_requests_total{code="200",host="server",method="GET"} 1)",
        R"(rest_client_requests_total{code="429",host="server",method="GET"} 1)",
        R"(rest_client_requests_total{code="<error>",host="server",method="GET"} 1)",
        R"(rest_client_request_retries_total{code="200",host="server",method="GET"} 1)",
        R"(rest_client_request_retries_total{code="<error>",host="server",method="GET"} 1)",
        R"(rest_client_request_duration_seconds_count{host="server",verb="GET"} 3)",
        R"(rest_client_request_size_bytes_count{host="server",verb="GET"} 3)",
        R"(rest_client_response_size_bytes_sum{host="server",verb="GET"} 47)"}) {
    EXPECT_THAT(text, HasSubstr(line)) << text;
  }
  EXPECT_THAT(text, testing::Not(HasSubstr(R"(retries_total{code="429")")));
}

TEST_F(Retries, AreReported) {
  std::vector<std::string> reports;
  scripted.options.on_attempt = [&](const AttemptReport& report) {
    reports.push_back(std::string{report.method} + ' ' + std::string{report.url} + ' ' +
                      std::to_string(report.attempt) + ' ' + std::to_string(report.status));
  };
  scripted.transport->answer(busy(429, "0"))
      .answer(FakeAnswer::error(TransportError::Kind::kConnectionLost));
  ask(scripted.client(), 1);
  EXPECT_THAT(reports, ElementsAre("GET https://server/api/v1/pods 0 429",
                                   "GET https://server/api/v1/pods 1 0",
                                   "GET https://server/api/v1/pods 2 200"));
}

// RC-70
TEST_F(Limits, AreCounted) {
  const auto metrics = std::make_shared<Metrics>();
  scripted.options.metrics = metrics;
  scripted.config.qps = 1;
  scripted.config.burst = 1;
  ask(scripted.client(), 3);
  EXPECT_THAT(
      metrics->text(),
      HasSubstr(R"(rest_client_rate_limiter_duration_seconds_sum{host="server",verb="GET"} 2)"));
}

}  // namespace
}  // namespace kube
