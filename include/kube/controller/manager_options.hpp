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

/// Which of several replicas of a program works. See LeaderElectionOptions for the times.
struct ManagerElectionOptions {
  std::string name{};        ///< of the Lease; empty: no election, this process works at once
  std::string namespace_{};  ///< of the Lease; empty: that of the pod
  std::string identity{};    ///< empty: "<host name>_<random uuid>"
  Clock::Duration lease_duration = std::chrono::seconds{15};
  Clock::Duration renew_deadline = std::chrono::seconds{10};
  Clock::Duration retry_period = std::chrono::seconds{2};
  /// Give the lease back when all work has ended, so that the next one need not wait for it to expire.
  bool release_on_cancel = false;
  std::map<std::string, std::string> labels{};  ///< of the Lease
  std::function<void(const std::string& identity)> on_new_leader{};
};

/// What a Manager works with besides its Config. Any field may be left out.
struct ManagerOptions {
  ManagerElectionOptions leader_election{};
  CacheOptions cache{};

  /// How many requests each controller works on at once, by kind and for all others.
  std::map<GroupKind, int> kind_concurrency{};
  int max_concurrent_reconciles = 1;
  Clock::Duration cache_sync_timeout = std::chrono::minutes{2};
  Clock::Duration reconcile_timeout{};  ///< 0: none
  bool warm_up = false;                 ///< see ControllerOptions
  /// Hears of each reconcile, in the thread that did it.
  std::function<void(const ReconcileReport& report)> on_reconcile{};

  /// How long run() waits for everything to end after a stop; 0: not at all, negative: as long as it takes.
  Clock::Duration graceful_shutdown_timeout = std::chrono::seconds{30};

  /// Where to serve /metrics: "127.0.0.1:8080", ":8080" for all addresses of the machine. Empty or "0": nowhere.
  std::string metrics_address{};
  /// Where to serve /healthz and /readyz.
  std::string health_address{};

  std::string name = "manager";  ///< for metrics of caches
  /// Where everything is counted. Null makes a registry of the manager's own; see Manager::metrics().
  std::shared_ptr<Metrics> metrics = nullptr;
  /// For the manager, its controllers, caches and clients. Not set: the log of `client` below. Logger{} is silent.
  std::optional<Logger> log{};
  Clock* clock = &system_clock();
  Random random = system_random();
  /// For the clients. Clock and metrics are those above unless they are set here; the log is the one above if that is
  /// set.
  ClientOptions client{};
};

/// Another process leads now, or this one could not renew the lease in time.
class LeadershipLostError : public Error {
 public:
  using Error::Error;
};
/// Something did not end within the graceful shutdown timeout.
class ShutdownTimeoutError : public Error {
 public:
  using Error::Error;
};

}  // namespace kube
