// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "testkit/simulation/controller.hpp"
#include "testkit/requests/engine.hpp"

namespace kube::testkit::detail {

/// Plays the rest of a cluster behind the API server: the controllers of workloads, jobs, endpoints and volumes, the
/// scheduler and the kubelets. Section 16 of docs/spec/apiserver.md says what it does.
///
/// All controllers share one thread and one queue, in which an object stands at most once per controller; what is lower in
/// the ownership chain comes first, so that a replica set is looked at once after many of its pods have changed. Time goes
/// by the clock. The engine must outlive it.
class Simulation {
 public:
  Simulation(Engine& engine, Clock& clock, const Logger& logger);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Looks at everything again, after the content of the store was replaced.
  void start_over();
  /// Waits until there is nothing left to do at the present time of the clock. False if that takes longer than `limit` of
  /// real time.
  bool settle(std::chrono::milliseconds limit);

 private:
  struct Key {
    std::size_t controller = 0;  ///< index in controllers_
    ObjectKey object;
    auto operator<=>(const Key&) const = default;
  };

  void add(std::unique_ptr<SimulatedController> controller);
  void subscribe();
  void enqueue(Key key);
  void run(const std::stop_token& stop) noexcept;
  /// Works on one key, or waits for one.
  void step(const std::stop_token& stop);
  /// Moves the keys whose time has come to the queue.
  void take_due_locked();
  [[nodiscard]] Clock::TimePoint next_due_locked() const;
  RetryAfter work_on(const Key& key) noexcept;
  /// The time to wait after a sync that failed.
  RetryAfter back_off(const Key& key) noexcept;

  Engine& engine_;
  Clock& clock_;
  const Logger logger_;
  std::vector<std::unique_ptr<SimulatedController>> controllers_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::set<Key> dirty_;
  std::map<Key, Clock::TimePoint> delayed_;
  bool working_ = false;
  // Used by thread_ only:
  std::map<Key, int> failures_;
  std::vector<std::shared_ptr<void>> subscriptions_;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace kube::testkit::detail
