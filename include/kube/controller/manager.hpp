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

struct RunnableOptions {
  std::string name{};                 ///< for logs
  bool needs_leader_election = true;  ///< run only while this process leads
};

/// What controllers of a program share: a client, caches, the election of a leader, endpoints for health and metrics;
/// and what runs them.
///
///   kube::Manager manager{kube::load_config(), {.leader_election = {.name = "foo-controller"}}};
///   manager.controller<Foo>("foo").owns<apps::v1::Deployment>().reconcile([&](const kube::Request& request) {
///     const auto foo = manager.find<Foo>(request.key);  // from the cache
///     ...
///     return kube::done();
///   });
///   manager.run(kube::stop_on_signals());
///
/// Thread safety: any method from any thread, but run(), which is called once. Nothing that a controller or runnable
/// does may destroy the manager.
class Manager {
 public:
  /// Nothing is sent yet. Throws ConfigError; kube::Error if there is an election without a namespace outside of a
  /// cluster; std::invalid_argument for options that make no sense.
  explicit Manager(Config config, ManagerOptions options = {});
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  /// Waits for what run() left behind.
  ~Manager();

  /// Talks to the server directly; for writing.
  [[nodiscard]] const Client& client() const noexcept;

  /// Reads from the caches; see CachedReader. find() returns null if the object is not there, get() throws ApiError.
  template <typename T>
  [[nodiscard]] Ref<T> find(const ObjectKey& key, std::stop_token stop = {}) const {
    return reader<T>().find(key, std::move(stop));
  }
  template <typename T>
  [[nodiscard]] Ref<T> get(const ObjectKey& key, std::stop_token stop = {}) const {
    return reader<T>().get(key, std::move(stop));
  }
  template <typename T>
  [[nodiscard]] Listed<T> list(const CacheListOptions& options = {},
                               std::stop_token stop = {}) const {
    return reader<T>().list(options, std::move(stop));
  }
  /// `kind` is for Value and meta::v1::PartialObjectMetadata.
  template <typename T>
  [[nodiscard]] CachedReader<T> reader(const ResourceKind& kind = {}) const {
    return detail::Inside::make<CachedReader<T>>(cache(), detail::watched_kind<T>(kind));
  }
  /// Lets list() select by `field`: `values` gives those that an object has. Throws std::invalid_argument if the
  /// field has an index.
  template <typename T>
  void index_field(const std::string& field, IndexFunction<T> values,
                   const ResourceKind& kind = {}) {
    add_index(detail::watched_kind<T>(kind), field, detail::Inside::core(values));
  }

  /// A controller of objects of type T, to be finished with reconcile(). The name, which no other controller may
  /// have, is by default the kind in lower case.
  template <typename T>
  [[nodiscard]] ControllerBuilder controller(std::string name = {}, WatchOptions<T> options = {}) {
    auto builder = detail::Inside::make<ControllerBuilder>(*core_, std::move(name));
    builder.for_<T>(std::move(options));
    return builder;
  }
  /// A controller of nothing in particular, which needs a name.
  [[nodiscard]] ControllerBuilder controller(std::string name);
  /// Runs `runnable` on a thread of its own while the manager runs. What it throws ends the manager.
  void add(std::function<void(std::stop_token)> runnable, RunnableOptions options = {});

  /// Throw std::logic_error once the manager runs.
  void add_healthz_check(std::string name, HealthCheck check);
  void add_readyz_check(std::string name, HealthCheck check);
  /// A check that fails when this process leads, but has not renewed the lease for that much longer than it lasts.
  [[nodiscard]] HealthCheck leader_election_check(Clock::Duration tolerance = std::chrono::seconds{
                                                      20}) const;
  /// Serves something else beside /metrics. Throws std::invalid_argument if the path is taken or no path.
  void add_metrics_path(std::string path, std::function<HttpReply()> answer);

  /// Works until a stop is requested, then waits for everything to end. In this order: endpoints, caches, what needs
  /// no leader, warm-up, and, once this process leads, what does. It ends in this order: what needs no
  /// leader, what does, caches, endpoints, the election.
  ///
  /// Throws std::logic_error, before anything starts, if a controller lacks its reconcile(). Throws what a runnable has
  /// thrown; CacheSyncError if caches are not filled in time; LeadershipLostError, at
  /// once; ShutdownTimeoutError. In the last two cases something may still run: the destructor waits for it, and
  /// the lease is kept until no controller works any more. Throws std::logic_error the second time.
  void run(std::stop_token stop);

  /// Happens when this process leads; without an election, when the controllers start.
  [[nodiscard]] const DoneSignal& elected() const noexcept;
  /// For events about objects: `kubectl describe` shows them. One for each component; they end with the manager.
  [[nodiscard]] std::shared_ptr<EventRecorder> event_recorder(const std::string& component);
  [[nodiscard]] const std::shared_ptr<Metrics>& metrics() const noexcept;
  /// Those of the options: for reconcile functions that wait or log.
  [[nodiscard]] Clock& clock() const noexcept;
  [[nodiscard]] const Logger& log() const noexcept;
  /// Where endpoints are served, "127.0.0.1:41234"; empty if they are not.
  [[nodiscard]] std::string metrics_address() const;
  [[nodiscard]] std::string health_address() const;

 private:
  [[nodiscard]] detail::CacheCore& cache() const noexcept;
  void add_index(const detail::WatchedKind& kind, const std::string& field,
                 std::function<std::vector<std::string>(const void* object)> values);

  std::unique_ptr<detail::ManagerCore> core_;
};

}  // namespace kube
