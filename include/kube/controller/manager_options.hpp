// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/client/client_options.hpp>
#include <kube/controller/cache_options.hpp>
#include <kube/controller/controller_options.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Leader election among the replicas of a program.
struct ManagerElectionOptions {
  std::string name{};  ///< name of the Lease; empty: no election, this process works immediately
  std::string namespace_{};  ///< namespace of the Lease; empty: that of the pod
  std::string identity{};    ///< empty: "<host name>_<random uuid>"
  /// See LeaderElectionOptions.
  Clock::Duration lease_duration = std::chrono::seconds{15};
  /// See LeaderElectionOptions.
  Clock::Duration renew_deadline = std::chrono::seconds{10};
  /// See LeaderElectionOptions.
  Clock::Duration retry_period = std::chrono::seconds{2};
  /// Releases the lease when all work has ended, so that the next leader need not wait for it to
  /// expire.
  bool release_on_cancel = false;
  std::map<std::string, std::string> labels{};  ///< labels of the Lease
  /// See LeaderElectionOptions.
  std::function<void(const std::string& identity)> on_new_leader{};
};

/// Settings of a Manager besides its Config. Any field may be left out.
struct ManagerOptions {
  /// By default there is no election.
  ManagerElectionOptions leader_election{};
  /// Scope and content of the caches.
  CacheOptions cache{};

  /// Number of requests that a controller reconciles concurrently, by the kind that it reconciles.
  std::map<GroupKind, int> kind_concurrency{};
  /// As above, for controllers of all other kinds.
  int max_concurrent_reconciles = 1;
  /// See ControllerOptions.
  Clock::Duration cache_sync_timeout = std::chrono::minutes{2};
  Clock::Duration reconcile_timeout{};  ///< 0: no timeout
  bool warm_up = false;                 ///< see ControllerOptions
  /// Receives a report of each reconcile, in the thread that did it.
  std::function<void(const ReconcileReport& report)> on_reconcile{};

  /// How long run() waits for everything to end after a stop. 0: not at all, negative: without
  /// limit.
  Clock::Duration graceful_shutdown_timeout = std::chrono::seconds{30};

  /// Address of /metrics: "127.0.0.1:8080", or ":8080" for all addresses of the machine. Empty or
  /// "0": not served.
  std::string metrics_address{};
  /// Address of /healthz and /readyz.
  std::string health_address{};

  std::string name = "manager";  ///< name in metrics of caches
  /// Registry of all metrics. If null, the manager makes its own; see Manager::metrics().
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Logger of the manager, its controllers, caches and clients. If not set: the log of `client`
  /// below. Logger{} is silent.
  std::optional<Logger> log{};
  /// Clock of all parts of the manager. With the default, the election uses boot_clock(), which
  /// also advances while the machine is suspended. Must outlive the manager.
  Clock* clock = &system_clock();
  /// The source of all jitter.
  Random random = system_random();
  /// Options of the clients. Clock and metrics default to those above; the log above takes
  /// precedence if it is set.
  ClientOptions client{};
};

/// Another process leads now, or this one could not renew the lease in time.
class LeadershipLostError : public Error {
 public:
  using Error::Error;
};
/// Some work did not end within the graceful shutdown timeout.
class ShutdownTimeoutError : public Error {
 public:
  using Error::Error;
};

}  // namespace kube
