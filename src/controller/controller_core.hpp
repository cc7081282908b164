// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/thread_mark.hpp"
#include "cache_core.hpp"

#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/controller/controller_builder.hpp>
#include <kube/controller/manager_options.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kube::detail {

class RequestQueue;

/// Metrics of a controller.
struct ControllerMetrics {
  ControllerMetrics(const std::shared_ptr<Metrics>& metrics, const std::string& controller);
  void count(ReconcileOutcome outcome, Clock::Duration took) const;

  Counter success, error, requeue, requeue_after;
  Counter errors, terminal_errors, panics, timeouts;
  Histogram time;
  Gauge max_concurrent, active;
};

/// The complete configuration collected by a ControllerBuilder.
struct ControllerPlan {
  std::string name = {};
  std::optional<WatchedKind> kind = std::nullopt;
  std::vector<SourcePlan> sources = {};
  std::vector<Predicate<meta::v1::ObjectMeta>> filters = {};
  ControllerOptions options = {};
  std::function<Result(const kube::Request& request, std::stop_token stop)> reconcile = nullptr;
};

/// A controller: sources fill its queue, workers empty it.
class ControllerCore : public std::enable_shared_from_this<ControllerCore> {
 public:
  /// Throws std::logic_error if the plan is invalid, or the name is taken.
  ControllerCore(ControllerPlan plan, const ManagerOptions& manager, CacheCore& cache);
  ControllerCore(const ControllerCore&) = delete;
  ControllerCore& operator=(const ControllerCore&) = delete;
  ~ControllerCore();

  [[nodiscard]] const std::string& name() const noexcept { return plan_.name; }
  [[nodiscard]] bool needs_leader_election() const noexcept {
    return plan_.options.needs_leader_election;
  }
  [[nodiscard]] bool warms_up() const noexcept { return *plan_.options.warm_up; }
  /// Returns whether the calling thread is one of its workers.
  [[nodiscard]] bool runs_here() const noexcept { return ThreadMark::is_set(this); }

  /// Starts the sources, without waiting. Later calls do nothing.
  void start_sources();
  /// Waits until the caches of the sources are filled, reconciles until a stop, and finishes
  /// reconciles that have begun. Throws CacheSyncError if the caches are not filled in time, and
  /// std::logic_error when called twice.
  void run(std::stop_token stop);

 private:
  struct Source;

  void start_kind(Source& source);
  void start_channel(Source& source);
  /// Enqueues the requests for an event. A predicate that throws accepts the event: a superfluous
  /// reconcile does no harm.
  void handle(const Source& source, const ObjectEvent& event);
  [[nodiscard]] bool passes(const Source& source, const ObjectEvent& event) const;
  void wait_for_sources(const std::stop_token& stop);
  void work(const std::stop_token& stop);
  void report(const kube::Request& request, ReconcileOutcome outcome, Clock::Duration took,
              const std::string& error, LogLevel level) const;
  Result call(const kube::Request& request, const std::stop_token& stop, std::string& error);

  ControllerPlan plan_;
  const ManagerOptions& manager_;
  CacheCore& cache_;
  Clock& clock_;
  const Logger log_;
  const std::shared_ptr<const void> claimed_name_;
  const ControllerMetrics metrics_;
  const std::unique_ptr<RequestQueue> queue_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::atomic<bool> running_ = false;

  std::mutex starting_;           // held while sources are started, so that they are started once
  bool sources_started_ = false;  // guarded by starting_
};

}  // namespace kube::detail
