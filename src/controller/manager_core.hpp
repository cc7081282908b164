// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller_core.hpp"
#include "endpoint.hpp"
#include "runnable_group.hpp"

#include <kube/base/condition.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/event_recorder.hpp>
#include <kube/controller/health.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/manager_options.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kube::detail {

class ManagerCore;

/// A controller being configured; shared by its builder and its manager.
struct ControllerDraft {
  std::atomic<ManagerCore*> manager;  ///< null once the manager has been destroyed
  std::string name = {};              ///< for messages
  ControllerPlan plan = {};
  std::atomic<bool> finished = false;
  bool asked = false;  ///< reconcile() was called; it may have thrown
};

/// The implementation of Manager.
class ManagerCore {
 public:
  ManagerCore(Config config, ManagerOptions options);
  ManagerCore(const ManagerCore&) = delete;
  ManagerCore& operator=(const ManagerCore&) = delete;
  ~ManagerCore();

  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] CacheCore& cache() noexcept { return *cache_; }
  [[nodiscard]] const ManagerOptions& options() const noexcept { return options_; }
  [[nodiscard]] const DoneSignal& elected() const noexcept { return elected_; }

  [[nodiscard]] std::shared_ptr<ControllerDraft> begin_controller(std::string name);
  /// Called when the builder of an unfinished controller is destroyed. Before run(), run() reports
  /// it.
  void drop_controller(const ControllerDraft& draft) noexcept;
  void add_controller(ControllerPlan plan);
  void add(RunnableGroup::Run runnable, const std::string& name, bool needs_leader_election);
  void add_check(HealthChecks& checks, std::string name, HealthCheck check);
  void add_metrics_path(std::string path, std::function<HttpReply()> answer);
  [[nodiscard]] HealthCheck leader_election_check(Clock::Duration tolerance) const;
  [[nodiscard]] std::shared_ptr<EventRecorder> event_recorder(const std::string& component);
  [[nodiscard]] HealthChecks& healthz() noexcept { return healthz_; }
  [[nodiscard]] HealthChecks& readyz() noexcept { return readyz_; }
  [[nodiscard]] std::string metrics_address() const;
  [[nodiscard]] std::string health_address() const;

  void run(std::stop_token stop);

 private:
  void make_elector();
  void check_drafts_locked() const;
  [[nodiscard]] bool runs_here() const;
  void start(const std::stop_token& stop);
  void start_endpoints();
  void start_leading();
  void lead(const std::stop_token& stop);
  /// Stops everything, in order. Runs in a thread of its own, so that work that does not end cannot
  /// keep run() from returning. It waits for user code, so it is not a job: blocked workers must
  /// not keep the manager from stopping.
  void stop_all() noexcept;
  void fail(std::exception_ptr error) noexcept;
  void runnable_failed(const std::string& name, const std::exception_ptr& error) noexcept;
  [[nodiscard]] HttpReply metrics_answer(std::string_view path) const;
  [[nodiscard]] HttpReply health_answer(std::string_view path, std::string_view query) const;

  const ManagerOptions options_;
  const Logger log_;
  Clock& clock_;
  const Client client_;
  const DoneSignal elected_{"elected"};
  HealthChecks healthz_;
  HealthChecks readyz_;
  std::map<std::string, std::function<HttpReply()>, std::less<>> metrics_paths_;
  std::vector<std::shared_ptr<ControllerCore>> controllers_;  // guarded by mutex_
  std::unique_ptr<CacheCore> cache_;

  mutable std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  bool started_ = false;
  bool warm_ = false;  // warm-up has begun
  std::vector<std::shared_ptr<ControllerDraft>> drafts_;
  std::exception_ptr failure_;
  bool leadership_lost_ = false;
  bool work_ended_ = false;
  std::map<std::string, std::shared_ptr<EventRecorder>> recorders_;
  std::unique_ptr<Endpoint> metrics_server_;
  std::unique_ptr<Endpoint> health_server_;

  // These and the last member use all others.
  RunnableGroup others_;
  RunnableGroup leaders_;
  std::unique_ptr<LeaderElector> elector_;
  std::atomic<bool> election_started_ = false;
  std::atomic<bool> election_stopping_ = false;
  std::jthread stopper_;
};

}  // namespace kube::detail
