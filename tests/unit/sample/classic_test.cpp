// SPDX-License-Identifier: Apache-2.0
// Tests of the classic sample controller that need its internals.
#include "scenario.hpp"

#include "classic/controller.hpp"
#include "classic/run.hpp"
#include "common/rate_limiter.hpp"

#include <kube/informers/shared_informer_factory.hpp>

namespace sample {
namespace {

// SC-1: max(exponential 5 ms..1000 s, bucket 50 per s burst 300).
TEST(SampleLimiter, IsTheSlowerOfTwo) {
  kube::testkit::FakeClock clock;
  const auto limiter = rate_limiter<int>(clock);
  EXPECT_EQ(limiter->when(1), 5ms);
  EXPECT_EQ(limiter->when(1), 10ms);
  EXPECT_EQ(limiter->when(1), 20ms);
  for (int i = 3; i < 30; ++i) (void)limiter->when(1);
  EXPECT_EQ(limiter->when(1), 1000s);
  limiter->forget(1);
  EXPECT_EQ(limiter->when(1), 5ms);

  for (int i = 32; i < 300; ++i) (void)limiter->when(1000 + i);
  EXPECT_EQ(limiter->when(2), 20ms);
  EXPECT_EQ(limiter->when(3), 40ms);
  clock.advance(20ms);
  EXPECT_EQ(limiter->when(4), 40ms);
}

class ClassicController : public Scenario {
 protected:
  [[nodiscard]] std::uint64_t adds() const {
    return metrics
        ->counter("workqueue_adds_total", "Total number of adds handled by workqueue",
                  {{"name", "foos"}})
        .value();
  }
  kube::FactoryOptions with_resync(kube::Clock::Duration resync) {
    return {.resync = resync, .clock = &clock};
  }
};

// SC-2: a resync of Deployments is ignored.
TEST_F(ClassicController, IgnoresResyncsOfDeployments) {
  std::atomic<int> shown = 0;
  kube::SharedInformerFactory kube_factory{client, with_resync(30s)};
  kube::SharedInformerFactory sample_factory{client, with_resync(0s)};
  Controller controller{client,
                        kube_factory.apps().v1().deployments(),
                        sample_factory.resource<Foo>(),
                        {.metrics = metrics, .clock = &clock}};
  auto informer = kube_factory.informer<Deployment>();
  informer.add_event_handler({.on_update = [&](const Deployment& before, const Deployment& now) {
    if (before.metadata.resource_version == now.metadata.resource_version) ++shown;
  }});
  kube_factory.start();
  sample_factory.start();
  std::jthread worker{[&](std::stop_token stop) { controller.run(2, stop); }};
  create_foo("a", "web", 1);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0); }));

  // Work from the start may take a moment to end; after it there must be a period without work.
  const auto quiet_during_resyncs = [&] {
    const auto queued = adds();
    const int before = shown;
    return eventually([&] { return shown >= before + 2 && informer.backlog() == 0; }, 1s) &&
           adds() == queued;
  };
  EXPECT_TRUE(quiet_during_resyncs() || quiet_during_resyncs() || quiet_during_resyncs());
  EXPECT_GT(adds(), 0U);
}

// SC-2
TEST_F(ClassicController, FailsIfItIsStoppedBeforeTheCachesAreFilled) {
  if (server.is_real()) GTEST_SKIP() << kube::testing_support::kNeedsFaults;
  server->faults().always().matching({.resource = "deployments"}).respond(500);
  const auto running = start(run_classic, options());
  ASSERT_TRUE(eventually([&] { return server->faults().struck() > 0; }));

  EXPECT_NE(running->stop(), "");
}

// SC-6: after a success the next failure counts as the first.
TEST_F(ClassicController, ForgetsFailuresAfterASuccess) {
  if (server.is_real()) GTEST_SKIP() << kube::testing_support::kNeedsFaults;
  kube::SharedInformerFactory factory{client, with_resync(0s)};
  Controller controller{client,
                        factory.apps().v1().deployments(),
                        factory.resource<Foo>(),
                        {.log = lines.logger(), .metrics = metrics, .clock = &clock}};
  factory.start();
  std::jthread worker{[&](std::stop_token stop) { controller.run(1, stop); }};

  server->faults().next(3).matching({.verb = "create", .resource = "deployments"}).respond(500);
  create_foo("a", "web", 1);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0); }));
  EXPECT_GE(lines.count("(3 times now)"), 1U);

  server->faults().next().matching({.verb = "update", .resource = "deployments"}).respond(500);
  scale_foo("a", 2);
  EXPECT_TRUE(eventually([&] { return has_replicas("web", 2); }));
  EXPECT_GE(lines.count("(1 times now)"), 2U);  // more if a cache lagged behind
}

}  // namespace
}  // namespace sample
