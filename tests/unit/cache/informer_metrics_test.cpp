// SPDX-License-Identifier: Apache-2.0
#include <kube/base/metrics.hpp>
#include <kube/cache/informer_metrics.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Recorder;
using testing_support::SharedInformerTest;

// M-1, M-2, M-3, M-7, K-23
TEST_F(SharedInformerTest, CountsWhatItDoes) {
  const auto metrics = std::make_shared<Metrics>();
  options.reflector.metrics = InformerMetrics::in(
      metrics, {{"name", "n"}, {"group", ""}, {"version", "v1"}, {"resource", "items"}});
  const InformerMetrics counts = options.reflector.metrics;
  server->put("a", "x");
  Recorder recorder;
  make().add_event_handler(recorder.handler());
  start_and_sync();
  server->put("a", "y");
  settle();
  ASSERT_TRUE(recorder.wait_for_count(2));
  EXPECT_EQ(counts.lists.value(), 1U);
  EXPECT_EQ(counts.watches.value(), 1U);
  EXPECT_TRUE(eventually([&] { return counts.last_version.value() == 2; }));
  relist();
  EXPECT_EQ(counts.lists.value(), 2U);
  EXPECT_EQ(counts.relists_after_expiry.value(), 1U);
  EXPECT_EQ(counts.items_per_list.sum(), 3);
  EXPECT_EQ(counts.items_per_watch.sum(), 1);
  stop();
  EXPECT_EQ(counts.store_version.value(), 2);
  EXPECT_EQ(counts.queued_items.value(), 0);
  EXPECT_EQ(counts.listener_backlog.value(), 0);
  EXPECT_EQ(counts.processing_latency.count(), 3U);
  EXPECT_NE(metrics->text().find(
                "informer_queued_items{group=\"\",name=\"n\",resource=\"items\",version=\"v1\"} 0"),
            std::string::npos)
      << metrics->text();
  stop();
}

}  // namespace
}  // namespace kube
