// SPDX-License-Identifier: Apache-2.0
#include <kube/base/metrics.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

TEST(Metrics, WritesCountersAndGaugesInOrderOfNamesAndLabels) {
  Metrics metrics;
  metrics.gauge("temperature", "How warm").set(-1.5);
  metrics.counter("requests_total", "Requests", {{"method", "PUT"}, {"code", "200"}}).add(2);
  metrics.counter("requests_total", "other help", {{"code", "200"}, {"method", "GET"}}).add();
  (void)metrics.counter("requests_total", "", {{"method", "PUT"}, {"code", "-1"}});

  EXPECT_EQ(metrics.text(),
            "# HELP requests_total Requests\n"
            "# TYPE requests_total counter\n"
            "requests_total{code=\"-1\",method=\"PUT\"} 0\n"
            "requests_total{code=\"200\",method=\"GET\"} 1\n"
            "requests_total{code=\"200\",method=\"PUT\"} 2\n"
            "# HELP temperature How warm\n"
            "# TYPE temperature gauge\n"
            "temperature -1.5\n");
}

TEST(Metrics, WritesHistogramsAsCumulativeBuckets) {
  Metrics metrics;
  const Histogram seconds = metrics.histogram("seconds", "Time", {1e-8, 0.5, 10}, {{"name", "a"}});
  for (const double value : {1e-8, 0.25, 0.5, 10.5}) seconds.observe(value);

  EXPECT_EQ(metrics.text(),
            "# HELP seconds Time\n"
            "# TYPE seconds histogram\n"
            "seconds_bucket{name=\"a\",le=\"1e-08\"} 1\n"
            "seconds_bucket{name=\"a\",le=\"0.5\"} 3\n"
            "seconds_bucket{name=\"a\",le=\"10\"} 3\n"
            "seconds_bucket{name=\"a\",le=\"+Inf\"} 4\n"
            "seconds_sum{name=\"a\"} 11.25000001\n"
            "seconds_count{name=\"a\"} 4\n");
  EXPECT_EQ(seconds.count(), 4U);
}

TEST(Metrics, EscapesHelpAndLabelValues) {
  Metrics metrics;
  metrics.gauge("a", "one\ntwo \\ \"three\"", {{"l", "x\"y\\z\n"}})
      .set(std::numeric_limits<double>::infinity());

  EXPECT_EQ(metrics.text(),
            "# HELP a one\\ntwo \\\\ \"three\"\n"
            "# TYPE a gauge\n"
            "a{l=\"x\\\"y\\\\z\\n\"} +Inf\n");
}

TEST(Metrics, ReturnsTheSameCounterForTheSameSeries) {
  Metrics metrics;
  const Counter first = metrics.counter("n", "", {{"a", "1"}, {"b", "2"}});
  const Counter second = metrics.counter("n", "", {{"b", "2"}, {"a", "1"}});
  first.add(3);

  EXPECT_EQ(second.value(), 3U);
}

TEST(Metrics, RefusesWhatPrometheusWouldRefuse) {
  Metrics metrics;
  (void)metrics.counter("n", "", {{"a", "1"}});
  (void)metrics.histogram("h", "", {1, 2});

  EXPECT_THROW((void)metrics.counter("", ""), std::invalid_argument);
  EXPECT_THROW((void)metrics.counter("1n", ""), std::invalid_argument);
  EXPECT_THROW((void)metrics.counter("n-m", ""), std::invalid_argument);
  EXPECT_THROW((void)metrics.counter("m", "", {{"le", "1"}}), std::invalid_argument);
  EXPECT_THROW((void)metrics.counter("m", "", {{"a:b", "1"}}), std::invalid_argument);
  EXPECT_THROW((void)metrics.counter("m", "", {{"a", "1"}, {"a", "2"}}), std::invalid_argument);
  EXPECT_THROW((void)metrics.gauge("n", "", {{"a", "1"}}), std::invalid_argument);
  EXPECT_THROW((void)metrics.histogram("h", "", {1, 3}), std::invalid_argument);
  EXPECT_THROW((void)metrics.histogram("g", "", {2, 1}), std::invalid_argument);
  EXPECT_THROW((void)metrics.histogram("g", "", {1, 1}), std::invalid_argument);
}

TEST(Metrics, ForgetsARemovedSeriesAndHandlesGoOnToWork) {
  auto metrics = std::make_shared<Metrics>();
  const Gauge depth = gauge(metrics, "depth", "", {{"name", "a"}});
  (void)gauge(metrics, "depth", "", {{"name", "b"}});
  metrics->remove("depth", {{"name", "a"}});
  EXPECT_EQ(metrics->text(), "# HELP depth \n# TYPE depth gauge\ndepth{name=\"b\"} 0\n");
  metrics->remove("depth", {{"name", "b"}});
  EXPECT_EQ(metrics->text(), "");

  metrics.reset();
  depth.add(2);
  EXPECT_EQ(depth.value(), 2);
}

TEST(Metrics, CountsNothingWithoutARegistry) {
  const std::shared_ptr<Metrics> none;
  counter(none, "a", "").add();
  gauge(none, "a", "").set(1);
  histogram(none, "a", "", {1}).observe(1);

  EXPECT_EQ(counter(none, "a", "").value(), 0U);
  EXPECT_EQ(histogram(none, "a", "", {1}).count(), 0U);
}

TEST(Metrics, CallsACollectorOnEachReadUntilItIsDestroyed) {
  Metrics metrics;
  const Gauge looks = metrics.gauge("looks", "");
  {
    const MetricsCollector collector = metrics.on_collect([&] { looks.add(); });
    (void)metrics.text();
    EXPECT_EQ(metrics.text(), "# HELP looks \n# TYPE looks gauge\nlooks 2\n");
  }
  (void)metrics.text();

  EXPECT_EQ(looks.value(), 2);
}

TEST(Metrics, CountsFromManyThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Gauge gauge = metrics.gauge("gauge", "");
        const Histogram seconds = metrics.histogram("seconds", "", {1});
        for (int n = 0; n < 1000; ++n) {
          gauge.add();
          seconds.observe(n % 2 == 0 ? 1 : 2);
        }
        (void)metrics.text();
      });
    }
  }

  EXPECT_EQ(metrics.gauge("gauge", "").value(), 4000);
  EXPECT_EQ(metrics.histogram("seconds", "", {1}).count(), 4000U);
  EXPECT_EQ(metrics.histogram("seconds", "", {1}).sum(), 6000);
}

TEST(Metrics, GrantsANameToOneOwnerAtATime) {
  Metrics metrics;
  auto first = metrics.claim("informers a");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(metrics.claim("informers a"), nullptr);
  EXPECT_NE(metrics.claim("informers b"), nullptr);  // released immediately
  const auto copy = first;
  first.reset();
  EXPECT_EQ(metrics.claim("informers a"), nullptr);
}

TEST(Metrics, GrantsANameAgainWhenItsOwnerIsDestroyed) {
  Metrics metrics;
  auto first = metrics.claim("informers a");
  first.reset();
  EXPECT_NE(metrics.claim("informers a"), nullptr);
}

TEST(Metrics, ForgetsAllSeriesWithTheSameLabels) {
  Metrics metrics;
  metrics.counter("events", "", {{"name", "a"}, {"type", "added"}}).add();
  metrics.counter("lists", "", {{"name", "a"}}).add();
  metrics.counter("lists", "", {{"name", "b"}}).add();
  metrics.remove_all({{"name", "a"}});
  EXPECT_EQ(metrics.text().find("name=\"a\""), std::string::npos);
  EXPECT_NE(metrics.text().find("name=\"b\""), std::string::npos);
}

}  // namespace
}  // namespace kube
