// SPDX-License-Identifier: Apache-2.0
#include "manager_fixture.hpp"
#include "skewed_clock.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <random>

namespace kube {
namespace {

constexpr int kReplicas = 3;

/// Shared by all replicas, to detect two that work at the same time.
struct Witness {
  std::array<std::atomic<int>, kReplicas> working{};  // running reconciles
  std::atomic<int> leading = 0;
  std::atomic<bool> two_leaders = false;
  std::atomic<bool> two_at_work = false;

  void begin(int replica) {
    ++working[static_cast<std::size_t>(replica)];
    for (int other = 0; other < kReplicas; ++other) {
      if (other != replica && working[static_cast<std::size_t>(other)] > 0) two_at_work = true;
    }
  }
  void end(int replica) { --working[static_cast<std::size_t>(replica)]; }
};

/// A program that is restarted whenever it ends, on a machine with a different clock.
class Replica {
 public:
  Replica(int number, testkit::ApiServer& server, testkit::FakeClock& base, Witness& witness)
      : clock(base, 1 + 0.1 * (number - 1), std::chrono::hours{number * 1000}),
        number_(number),
        server_(server),
        witness_(witness),
        random_(static_cast<std::uint64_t>(number)),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) run_once(stop);
          finished.fire();
        }) {}

  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  ~Replica() { stop(); }

  /// As in a rollout.
  void restart() {
    const std::lock_guard guard{mutex_};
    current_.request_stop();
  }
  void stop() {
    thread_.request_stop();
    restart();
  }

  SkewedClock clock;
  std::atomic<int> terms = 0;
  std::atomic<int> losses = 0;
  const DoneSignal finished;

 private:
  void run_once(const std::stop_token& stop) {
    std::stop_token now;
    {
      const std::lock_guard guard{mutex_};
      current_ = {};
      now = current_.get_token();
    }
    if (stop.stop_requested()) return;
    ManagerOptions options;
    options.log = Logger{};
    options.leader_election = {.name = "lock",
                               .namespace_ = "default",
                               .identity = "replica-" + std::to_string(number_),
                               .release_on_cancel = number_ % 2 == 0};
    options.clock = &clock;
    options.cache.sync_period = {};
    options.warm_up = number_ == 1;
    options.random = [this] {
      const std::lock_guard guard{mutex_};
      return static_cast<double>(random_() >> 11) * 0x1p-53;
    };
    options.max_concurrent_reconciles = 2;
    options.graceful_shutdown_timeout = -1s;  // a wait for a time would look like the election's
    Manager manager{server_.config(), std::move(options)};
    manager.add([this](const std::stop_token& leading) {
      ++terms;
      if (++witness_.leading > 1) witness_.two_leaders = true;
      static_cast<void>(DoneSignal{}.wait(leading));
      --witness_.leading;
    });
    manager.controller<ConfigMap>("jobs").reconcile(
        [&](const Request& request, const std::stop_token& leading) {
          witness_.begin(number_);
          work(manager, request, leading);
          witness_.end(number_);
          return done();
        });
    try {
      manager.run(now);
    } catch (const LeadershipLostError&) {
      ++losses;
    }
  }

  /// Does a job, repeatedly until it is known to be done: responses get lost. It does not wait for
  /// a clock, which would look as though the election waited.
  void work(const Manager& manager, const Request& request, const std::stop_token& leading) const {
    const auto maps = manager.client().resource<ConfigMap>(request.key.namespace_);
    while (!leading.stop_requested()) {
      try {
        const auto job = maps.find(request.key.name, {}, leading);
        if (!job || job->data.find("done") != nullptr) return;
        ConfigMap next = *job;
        next.data["done"] = "by replica " + std::to_string(number_);
        maps.update(next, {}, leading);
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): once more
      }
    }
  }

  const int number_;
  testkit::ApiServer& server_;
  Witness& witness_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::stop_source current_;
  std::mt19937_64 random_;
  std::jthread thread_;  // last member: it uses the others
};

// LE-5, CF-41: three replicas of a program compete for one lease, on machines whose clocks differ,
// with a server whose responses fail, are slow, get lost or arrive too late; from time to time one
// of them is restarted. Never do two of them work at the same time, and no work is left undone.
TEST(ManagerContention, NeverHasTwoLeadersAndLosesNoWork) {
  if (testing_support::on_cluster()) GTEST_SKIP() << testing_support::kNeedsFaults;
  const std::size_t threads = testing_support::thread_count();
  {
    testkit::FakeClock clock;
    testkit::ApiServer server{{.clock = &clock, .seed = 7}};
    Witness witness;
    std::vector<std::unique_ptr<Replica>> replicas;
    for (int i = 0; i < kReplicas; ++i) {
      replicas.push_back(std::make_unique<Replica>(i, server, clock, witness));
    }
    const auto make_trouble = [&](bool all) {
      auto& faults = server.faults();
      const testkit::RequestFilter leases{.resource = "leases"};
      faults.clear();
      faults.always()
          .matching({.verb = "update", .resource = "configmaps"})
          .with_probability(0.1)
          .respond(500);
      faults.always()
          .matching({.verb = "update", .resource = "configmaps"})
          .with_probability(0.1)
          .lose_answer();
      if (all) {
        faults.always().matching(leases).with_probability(0.7).break_before_head();
        return;
      }
      faults.always().matching(leases).with_probability(0.1).respond(500);
      faults.always().matching(leases).with_probability(0.1).break_before_head();
      faults.always().matching(leases).with_probability(0.1).lose_answer();
      faults.always().matching(leases).with_probability(0.1).delay(3s);
      faults.always().matching(leases).with_probability(0.05).go_silent();
    };
    // The clock advances when all replicas have done the work that is due: each waits for a later
    // time then.
    const auto step = [&] {
      const bool quiet = server.wait_for([&] {
        return std::ranges::all_of(replicas, [](const auto& replica) {
          return replica->finished.done() || replica->clock.is_waited_for(30s);
        });
      });
      if (quiet) {
        const auto next = clock.next_deadline();
        const Clock::Duration wait = next == Clock::TimePoint::max() ? 1s : next - clock.now();
        clock.advance(std::clamp<Clock::Duration>(wait, 1ms, 2s));
      }
      return quiet;
    };

    int jobs = 0;
    for (int i = 0; i < 1000; ++i) {
      if (i % 100 == 0) make_trouble(i % 300 == 100);
      if (i % 10 == 0) server.create(config_map("default", "job-" + std::to_string(jobs++)));
      if (i % 70 == 69) replicas[static_cast<std::size_t>(i / 70 % kReplicas)]->restart();
      ASSERT_TRUE(step()) << "in step " << i;
    }
    server.faults().clear();
    const auto undone = [&] {
      int count = 0;
      for (const auto& map : server.list({"", "configmaps"}, "default")) {
        const std::string_view name = (*map)["metadata"]["name"].as_string();
        if (name.starts_with("job-") && (*map)["data"]["done"].is_absent()) ++count;
      }
      return count;
    };
    for (int i = 0; i < 1000 && undone() > 0; ++i) ASSERT_TRUE(step());
    EXPECT_EQ(undone(), 0);
    for (const auto& replica : replicas) replica->stop();
    EXPECT_TRUE(server.wait_for([&] {
      clock.advance(10ms);
      return std::ranges::all_of(replicas,
                                 [](const auto& replica) { return replica->finished.done(); });
    }));
    int terms = 0;
    int losses = 0;
    for (const auto& replica : replicas) {
      terms += replica->terms;
      losses += replica->losses;
    }
    EXPECT_FALSE(witness.two_leaders);
    EXPECT_FALSE(witness.two_at_work);
    EXPECT_EQ(witness.leading, 0);
    EXPECT_GT(terms, 3);
    EXPECT_GT(losses, 0);
    RecordProperty("terms", terms);
    RecordProperty("losses", losses);
  }
  EXPECT_TRUE(testing_support::threads_return_to(threads));
}

}  // namespace
}  // namespace kube
