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

#include "testkit/requests/engine.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Simulates the rest of a cluster behind the API server: the controllers of workloads, jobs,
/// endpoints and volumes, the scheduler and the kubelets. Section 16 of docs/spec/apiserver.md
/// specifies it.
///
/// All controllers share one thread and one queue, which contains an object at most once per
/// controller. Objects lower in the ownership chain are processed first, so that a replica set is
/// synced once after many of its pods have changed. All times are read from the clock. The engine
/// must outlive it.
class Simulation {
 public:
  Simulation(Engine& engine, Clock& clock, const Logger& logger);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Enqueues all objects again, after the content of the store was replaced.
  void start_over();
  /// Waits until no work is left at the present time of the clock. Returns false if that takes
  /// longer than `limit` of real time.
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
  /// Processes one key, or waits for one.
  void step(const std::stop_token& stop);
  /// Moves keys whose delay has expired to the queue.
  void take_due_locked();
  [[nodiscard]] Clock::TimePoint next_due_locked() const;
  RetryAfter work_on(const Key& key) noexcept;
  /// Returns the back-off after a failed sync.
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
  std::jthread thread_;  // last member: joins before the other members are destroyed
};

}  // namespace kube::testkit::detail
