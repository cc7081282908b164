// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/done_signal.hpp>
#include <kube/cache/index_function.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/cached_reader.hpp>
#include <kube/controller/controller_builder.hpp>
#include <kube/controller/health.hpp>
#include <kube/controller/manager_options.hpp>
#include <kube/informers/cache_sync.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube {

class EventRecorder;

/// Settings of a runnable; see Manager::add().
struct RunnableOptions {
  std::string name{};                 ///< name in logs
  bool needs_leader_election = true;  ///< runs only while this process is the leader
};

/// Runs the controllers of a program, and owns their shared parts: a client, caches, leader
/// election, endpoints for health and metrics (controller-runtime: Manager).
///
///   kube::Manager manager{kube::load_config(), {.leader_election = {.name = "foo-controller"}}};
///   manager.controller<Foo>("foo")
///       .owns<apps::v1::Deployment>()
///       .reconcile([&](const kube::Request& request) {
///         const auto foo = manager.find<Foo>(request.key);  // from the cache
///         ...
///         return kube::done();
///       });
///   manager.run(kube::stop_on_signals());
///
/// Thread safety: any method from any thread, except run(), which is called once. A controller or
/// runnable must not destroy the manager.
class Manager {
 public:
  /// Sends nothing yet. Throws ConfigError; kube::Error for an election without a namespace outside
  /// a cluster; std::invalid_argument for invalid options.
  explicit Manager(Config config, ManagerOptions options = {});
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  /// Waits for work that run() could not wait for.
  ~Manager();

  /// Returns a client that talks to the server directly, for writes.
  [[nodiscard]] const Client& client() const noexcept;

  /// Returns an object from the cache, or null if there is none; see CachedReader.
  template <typename T>
  [[nodiscard]] Ref<T> find(const ObjectKey& key, std::stop_token stop = {}) const {
    return reader<T>().find(key, std::move(stop));
  }
  /// Returns an object from the cache. Throws ApiError (not found) if there is none.
  template <typename T>
  [[nodiscard]] Ref<T> get(const ObjectKey& key, std::stop_token stop = {}) const {
    return reader<T>().get(key, std::move(stop));
  }
  /// Returns objects from the cache; see CachedReader::list().
  template <typename T>
  [[nodiscard]] Listed<T> list(const CacheListOptions& options = {},
                               std::stop_token stop = {}) const {
    return reader<T>().list(options, std::move(stop));
  }
  /// Returns a reader. `kind` is required for Value and meta::v1::PartialObjectMetadata.
  template <typename T>
  [[nodiscard]] CachedReader<T> reader(const ResourceKind& kind = {}) const {
    return detail::Inside::make<CachedReader<T>>(cache(), detail::watched_kind<T>(kind));
  }
  /// Adds an index, so that list() can select by `field`. `values` returns the field's values of an
  /// object. Throws std::invalid_argument if the field has an index already.
  template <typename T>
  void index_field(const std::string& field, IndexFunction<T> values,
                   const ResourceKind& kind = {}) {
    add_index(detail::watched_kind<T>(kind), field, detail::Inside::core(values));
  }

  /// Adds a controller of objects of type T, to be completed with reconcile(). The name must be
  /// unique; by default it is the kind in lower case.
  template <typename T>
  [[nodiscard]] ControllerBuilder controller(std::string name = {}, WatchOptions<T> options = {}) {
    auto builder = detail::Inside::make<ControllerBuilder>(*core_, std::move(name));
    builder.for_<T>(std::move(options));
    return builder;
  }
  /// Adds a controller without a primary kind. The name is required.
  [[nodiscard]] ControllerBuilder controller(std::string name);
  /// Runs `runnable` on a thread of its own while the manager runs. An exception ends the manager.
  void add(std::function<void(std::stop_token)> runnable, RunnableOptions options = {});

  /// Adds a check to /healthz. Throws std::logic_error once the manager runs.
  void add_healthz_check(std::string name, HealthCheck check);
  /// Adds a check to /readyz. Throws std::logic_error once the manager runs.
  void add_readyz_check(std::string name, HealthCheck check);
  /// Returns a check that fails if this process leads but has not renewed the lease for its
  /// duration plus `tolerance`.
  [[nodiscard]] HealthCheck leader_election_check(Clock::Duration tolerance = std::chrono::seconds{
                                                      20}) const;
  /// Serves another path beside /metrics. Throws std::invalid_argument if the path is taken or
  /// invalid.
  void add_metrics_path(std::string path, std::function<HttpReply()> answer);

  /// Runs until a stop is requested, then waits for everything to end. Starts in this order:
  /// endpoints, caches, runnables that need no leader, warm-up and, once this process leads, those
  /// that do. Ends in this order: runnables that need no leader, those that do, caches, endpoints,
  /// the election.
  ///
  /// Throws std::logic_error, before anything starts, if a controller lacks its reconcile(). Throws
  /// the exception of a runnable; CacheSyncError if caches are not filled in time;
  /// LeadershipLostError, immediately; ShutdownTimeoutError. In the last two cases some work may
  /// still run: the destructor waits for it, and the lease is kept until no controller works any
  /// more. Throws std::logic_error when called twice.
  void run(std::stop_token stop);

  /// Fires when this process leads; without an election, when the controllers start.
  [[nodiscard]] const DoneSignal& elected() const noexcept;
  /// Returns the recorder of a component, for events about objects. It ends with the manager.
  [[nodiscard]] std::shared_ptr<EventRecorder> event_recorder(const std::string& component);
  [[nodiscard]] const std::shared_ptr<Metrics>& metrics() const noexcept;
  /// Return the clock and log of the options, for reconcile functions.
  [[nodiscard]] Clock& clock() const noexcept;
  [[nodiscard]] const Logger& log() const noexcept;
  /// Return the addresses of the endpoints, "127.0.0.1:41234"; empty if they are not served.
  [[nodiscard]] std::string metrics_address() const;
  [[nodiscard]] std::string health_address() const;

 private:
  [[nodiscard]] detail::CacheCore& cache() const noexcept;
  void add_index(const detail::WatchedKind& kind, const std::string& field,
                 std::function<std::vector<std::string>(const void* object)> values);

  std::unique_ptr<detail::ManagerCore> core_;
};

}  // namespace kube
