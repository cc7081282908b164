// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "memory_lock.hpp"
#include "skewed_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

/// A candidate that runs again whenever it has lost.
class Candidate {
 public:
  Candidate(testkit::FakeClock& base, MemoryLease& lease, int number, std::atomic<int>& leading,
            std::atomic<int>& most)
      : clock_(base, 1 + 0.1 * (number - 1), std::chrono::hours{number * 1000}),
        random_(static_cast<std::uint64_t>(number)),
        lock_(std::make_shared<MemoryLock>(lease, "candidate " + std::to_string(number))) {
    lock_->set_faults([this](std::string_view method, const LockCall& call) {
      if (is_cut_off_ ? random_() % 20 == 0 : method == "update" && random_() % 20 == 0) {
        is_cut_off_ = !is_cut_off_;
      }
      if (is_cut_off_ || random_() % 6 == 0) {
        // Fails immediately or at its timeout, before or after its effect.
        if (random_() % 3 == 0) (void)clock_.sleep_for(call.timeout, call.stop);
        return is_cut_off_ || random_() % 2 == 0 ? MemoryLock::Fault::kBefore
                                                 : MemoryLock::Fault::kAfter;
      }
      if (random_() % 6 == 0) {
        slow_answer_ = std::chrono::milliseconds{random_() % 5000};
        is_cut_off_ = random_() % 2 == 0;  // cut off for a while from now on
        return MemoryLock::Fault::kSlow;
      }
      return MemoryLock::Fault::kNone;
    });
    lock_->set_pause([this](const LockCall& call) {
      (void)clock_.sleep_for(std::min(slow_answer_, call.timeout), call.stop);
    });
    LeaderElectionOptions options;
    options.log = Logger{};
    options.clock = &clock_;
    options.random = [this] { return static_cast<double>(random_() >> 11) * 0x1p-53; };
    options.release_on_cancel = number % 2 == 0;
    options.on_started_leading = [this, &leading, &most](std::stop_token stop) {
      ++terms_;
      const int now = ++leading;
      int before = most;
      while (now > before && !most.compare_exchange_weak(before, now)) {
      }
      std::mutex mutex;
      Condition never;
      std::unique_lock lock{mutex};
      never.wait(lock, stop, [] { return false; });
      --leading;
    };
    options.on_stopped_leading = [] {};
    elector_ = std::make_unique<LeaderElector>(lock_, options);
    thread_ = std::jthread{[this](std::stop_token stop) {
      while (!stop.stop_requested()) elector_->run(stop);
      finished_ = true;
    }};
  }

  void stop() { thread_.request_stop(); }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] int terms() const { return terms_; }

 private:
  SkewedClock clock_;
  std::mt19937_64 random_;  // used only by the thread of the election
  bool is_cut_off_ = false;
  Clock::Duration slow_answer_{};
  std::atomic<int> terms_ = 0;
  std::atomic<bool> finished_ = false;
  std::shared_ptr<MemoryLock> lock_;
  std::unique_ptr<LeaderElector> elector_;
  std::jthread thread_;
};

// LE-5: any offset, rates up to 1.2 apart; calls that fail before or after their effect, hang or
// are slow; candidates that are cut off for a while. For hours there is never more than one leader,
// and there is one again and again.
TEST(LeaderElector, NeverLeadsTwice) {
  testkit::FakeClock clock;
  MemoryLease lease;
  std::atomic<int> leading = 0;
  std::atomic<int> most = 0;
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (int i = 0; i < 3; ++i) {
    candidates.push_back(std::make_unique<Candidate>(clock, lease, i, leading, most));
  }

  for (int step = 0; step < 1500; ++step) {
    ASSERT_TRUE(clock.wait_for_sleepers(candidates.size()));
    clock.advance(std::max<Clock::Duration>(clock.next_deadline() - clock.now(), 1ns));
  }
  int terms = 0;
  for (const auto& candidate : candidates) {
    terms += candidate->terms();
    candidate->stop();
  }
  const auto until = std::chrono::steady_clock::now() + 10s;
  const auto all_finished = [&] {
    return std::ranges::all_of(candidates, [](const auto& one) { return one->finished(); });
  };
  while (!all_finished() && std::chrono::steady_clock::now() < until) clock.advance(10ms);

  ASSERT_TRUE(all_finished());
  EXPECT_EQ(most, 1);
  EXPECT_GT(terms, 10);
  EXPECT_EQ(leading, 0);
}

}  // namespace
}  // namespace kube
