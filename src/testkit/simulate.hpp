// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine.hpp"

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>

#include <chrono>
#include <compare>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kube::testkit::detail {

/// Plays a cluster behind the API server: deployments get replica sets, these get pods, pods are bound to the one
/// node there is, run at once and are ready, and go when they are told to. A fixed few rules and no strategy: a
/// rollout replaces all pods at once.
///
/// Works on its own thread from construction to destruction; the engine must outlive it.
class Simulation {
 public:
  Simulation(Engine& engine, Clock& clock, const Logger& logger);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Waits until there is nothing left to do. False if that takes longer than `limit` of real time.
  bool settle(std::chrono::milliseconds limit);

 private:
  enum class Kind { kDeployment, kReplicaSet, kPod };
  struct Key {
    Kind kind;
    std::string namespace_;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };

  void watch(Kind kind);
  void enqueue(Key key);
  void enqueue_owner(const Value& object, std::string_view owner_kind, Kind kind);
  void run(const std::stop_token& stop);
  void work_on(const Key& key);
  void sync_deployment(const Key& key);
  void sync_replica_set(const Key& key);
  void sync_pod(const Key& key);
  [[nodiscard]] std::vector<Ref<Value>> owned(const GroupResource& resource,
                                              const Value& owner) const;
  [[nodiscard]] std::string now_text() const;
  void set_status(const std::string& target, const Value& object, const Value& status);

  Engine& engine_;
  Clock& clock_;
  const Logger logger_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::set<Key> dirty_;
  bool working_ = false;
  std::vector<std::shared_ptr<void>> subscriptions_;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace kube::testkit::detail
