// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/object_key.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// Adds an object to the controller's queue.
using Enqueue = std::function<void(ObjectKey)>;
/// The delay until an object is synced again even if it does not change.
using RetryAfter = std::optional<std::chrono::nanoseconds>;

/// One controller of the simulated cluster, responsible for the objects of one kind.
///
/// sync() is level-triggered and idempotent: it reads the present state and makes at most a few
/// writes; the resulting changes enqueue the object again.
class SimulatedController {
 public:
  explicit SimulatedController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}
  SimulatedController(const SimulatedController&) = delete;
  SimulatedController& operator=(const SimulatedController&) = delete;
  virtual ~SimulatedController() = default;

  /// The resources whose changes trigger a sync.
  [[nodiscard]] virtual std::vector<GroupResource> watched() const = 0;
  /// Enqueues the objects of this controller that are affected by a change of `object`. Called on
  /// another thread than sync(); may read the cluster, but not the members that sync() changes. For
  /// a deletion, `object` is the last state.
  virtual void on_change(const GroupResource& resource, const StoredObject& object,
                         const Enqueue& enqueue) const = 0;
  /// Moves the object of that name, which may be deleted, towards the state that its spec asks for.
  /// If it throws ApiError, the sync is retried.
  virtual RetryAfter sync(const ObjectKey& key) = 0;

 protected:
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
