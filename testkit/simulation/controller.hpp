// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/object_key.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// Marks an object as one to synchronise.
using Enqueue = std::function<void(ObjectKey)>;
/// The time until an object has to be looked at again, whether it changes or not.
using RetryAfter = std::optional<std::chrono::nanoseconds>;

/// One controller of the simulated cluster: it is responsible for the objects of one kind.
///
/// sync() is level-triggered and idempotent: it reads the present state and makes at most a few writes; the changes that
/// follow enqueue the object again.
class SimulatedController {
 public:
  SimulatedController() = default;
  SimulatedController(const SimulatedController&) = delete;
  SimulatedController& operator=(const SimulatedController&) = delete;
  virtual ~SimulatedController() = default;

  /// The resources whose changes lead to a sync.
  [[nodiscard]] virtual std::vector<GroupResource> watched() const = 0;
  /// Enqueues the objects of this controller that a change of `object` concerns. Called on another thread than sync(); may
  /// read the cluster, but not the members that sync() changes. `object` of a deletion is the last state.
  virtual void on_change(const GroupResource& resource, const StoredObject& object,
                         const Enqueue& enqueue) const = 0;
  /// Brings the object of that name, which may be gone, nearer to what its spec asks for. Throws ApiError; the sync is
  /// then repeated.
  virtual RetryAfter sync(const ObjectKey& key) = 0;
};

}  // namespace kube::testkit::detail
