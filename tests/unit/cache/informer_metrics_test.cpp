// SPDX-License-Identifier: Apache-2.0
#include <kube/base/metrics.hpp>
#include <kube/cache/informer_metrics.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Recorder;
using testing_support::SharedInformerTest;

// M-1, M-2, M-3, M-7, K-23
TEST_F(SharedInformerTest, CountsWhatItDoes) {
  const auto metrics = std::make_shared<Metrics>();
  options.metrics = InformerMetrics::in(
      metrics, {{"name", "n"}, {"group", ""}, {"version", "v1"}, {"resource", "items"}});
  const InformerMetrics counts = options.metrics;
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  server->put("a", "y");
  settle();
  ASSERT_TRUE(recorder.wait_for_count(2));
  EXPECT_EQ(counts->lists.value(), 1U);
  EXPECT_EQ(counts->watches.value(), 1U);
  EXPECT_TRUE(eventually([&] { return counts->last_version.value() == 2; }));
  relist();
  EXPECT_EQ(counts->lists.value(), 2U);
  EXPECT_EQ(counts->relists_after_expiry.value(), 1U);
  EXPECT_EQ(counts->items_per_list.sum(), 3);
  EXPECT_EQ(counts->items_per_watch.sum(), 1);
  // A stop drops queued deltas.
  EXPECT_TRUE(eventually([&] { return counts->processing_latency.count() == 3; }));
  stop();
  EXPECT_EQ(counts->store_version.value(), 2);
  EXPECT_EQ(counts->queued_items.value(), 0);
  EXPECT_EQ(counts->listener_backlog.value(), 0);
  EXPECT_EQ(counts->processing_latency.count(), 3U);
  EXPECT_NE(metrics->text().find(
                "informer_queued_items{group=\"\",name=\"n\",resource=\"items\",version=\"v1\"} 0"),
            std::string::npos)
      << metrics->text();
  stop();
}

/// Returns the value of a series in the Prometheus text.
double value_in(const std::string& text, const std::string& series) {
  const std::size_t at = text.find('\n' + series + ' ');
  if (at == std::string::npos) throw std::invalid_argument("no " + series + " in\n" + text);
  return std::stod(text.substr(at + series.size() + 2));
}

// K-23: events by type, and their age.
TEST_F(SharedInformerTest, ExportsItsFreshness) {
  const auto metrics = std::make_shared<Metrics>();
  options.metrics = InformerMetrics::in(metrics, {{"name", "n"}});
  const InformerMetrics counts = options.metrics;
  const auto look = [&](const std::string& name) {
    return value_in(metrics->text(), name + "{name=\"n\"}");
  };
  const auto events = [&](const std::string& type) {
    return value_in(metrics->text(), "reflector_events_total{name=\"n\",type=\"" + type + "\"}");
  };
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  EXPECT_EQ(look("informer_objects"), 1);
  const double one = look("informer_bytes");
  EXPECT_GT(one, 100);
  EXPECT_EQ(look("reflector_last_event_age_seconds"), 0);

  clock.advance(90s);
  EXPECT_EQ(look("reflector_last_event_age_seconds"), 90);
  EXPECT_EQ(look("reflector_last_bookmark_age_seconds"), 90);
  server->put("a", "y");
  server->put("a", "y");
  server->remove("a", "x");
  settle();
  EXPECT_EQ(look("reflector_last_event_age_seconds"), 0);
  EXPECT_EQ(look("reflector_last_bookmark_age_seconds"), 90);
  EXPECT_EQ(events("added"), 1);
  EXPECT_EQ(events("modified"), 1);
  EXPECT_EQ(events("deleted"), 1);
  EXPECT_EQ(look("informer_objects"), 1);

  for (int i = 0; i < 10; ++i) server->put("a", "z" + std::to_string(i));
  settle();
  EXPECT_EQ(look("informer_objects"), 11);
  EXPECT_GT(look("informer_bytes"), one);
  clock.advance(5s);
  server->bookmark();
  ASSERT_TRUE(eventually([&] { return events("bookmark") == 1; }));
  EXPECT_EQ(look("reflector_last_bookmark_age_seconds"), 0);
  server->end_watches(testing_support::status(403, "Forbidden"));
  ASSERT_TRUE(eventually([&] { return events("error") == 1; }));

  stop();
  EXPECT_EQ(look("informer_objects"), 11);
  clock.advance(1h);  // the values are not computed any more
  EXPECT_LT(look("reflector_last_event_age_seconds"), 3600);
  EXPECT_EQ(counts->objects.value(), 11);
}

// K-23: how long events wait until the cache has them, and how long handlers take.
TEST_F(SharedInformerTest, ExportsLatencies) {
  for (const QueueKind kind : {QueueKind::kInOrder, QueueKind::kDeltaFifo}) {
    const auto metrics = std::make_shared<Metrics>();
    options.metrics = InformerMetrics::in(metrics, {});
    const InformerMetrics counts = options.metrics;
    options.queue_kind = kind;
    // The index function is called when an object is stored.
    options.indexers = {{"slow", [this](const testing_support::Item& object) {
                           if (object.metadata.name == "slow") clock.advance(2s);
                           return std::vector<std::string>{};
                         }}};
    Recorder recorder;
    make();
    informer->add_event_handler({.on_add = [&](const testing_support::Item& object) {
      if (object.metadata.name == "slow") clock.advance(300ms);
    }});
    start_and_sync();
    EXPECT_EQ(counts->event_lag.count(), 0U);
    server->put("a", "slow");
    ASSERT_TRUE(eventually([&] { return counts->handler_duration.count() == 1; }));
    EXPECT_NEAR(counts->handler_duration.sum(), 0.3, 1e-9);
    ASSERT_TRUE(eventually([&] { return counts->event_lag.count() == 1; }));
    EXPECT_GE(counts->event_lag.sum(), 2);  // the handler may have been called meanwhile
    EXPECT_LE(counts->event_lag.sum(), 2.3 + 1e-9);
    stop();
    informer.reset();
    server->remove("a", "slow");
  }
}

// M-1: without a registry nothing is counted or computed.
TEST(InformerMetrics, CountNothingByDefault) {
  const InformerMetrics none = InformerMetrics::in(nullptr, {{"name", "n"}});
  EXPECT_EQ(none->probe, nullptr);
  none->objects.set(5);
  EXPECT_EQ(none->objects.value(), 0);
}

// A registry and the informer it measures may outlive each other.
TEST(InformerMetrics, AreComputedOnlyWhileTheirInformerExists) {
  auto metrics = std::make_shared<Metrics>();
  auto counts = InformerMetrics::in(metrics, {});
  int calls = 0;
  counts->probe->set([&] { ++calls; });
  (void)metrics->text();
  EXPECT_EQ(calls, 1);
  counts->probe->set(nullptr);
  (void)metrics->text();
  EXPECT_EQ(calls, 1);
  counts->probe->set([&] { ++calls; });
  counts = {};
  (void)metrics->text();
  EXPECT_EQ(calls, 1);
  counts = InformerMetrics::in(metrics, {});
  metrics.reset();
  counts->objects.set(1);
  EXPECT_EQ(counts->objects.value(), 1);
}

}  // namespace
}  // namespace kube
