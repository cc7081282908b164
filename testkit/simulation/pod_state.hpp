// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/time.hpp>
#include <kube/object/ref.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace kube::testkit::detail {

using PodRefs = std::vector<Ref<core::v1::Pod>>;

/// Returns whether the object is being deleted.
template <typename T>
[[nodiscard]] bool is_deleting(const T& object) noexcept {
  return object.metadata.deletion_timestamp.is_set();
}

/// Returns whether all containers have ended for good: the phase is Succeeded or Failed.
[[nodiscard]] bool is_finished(const core::v1::Pod& pod) noexcept;
/// Returns whether the pod is neither finished nor being deleted.
[[nodiscard]] bool is_active(const core::v1::Pod& pod) noexcept;
[[nodiscard]] bool is_ready(const core::v1::Pod& pod) noexcept;
/// Returns whether the pod has been ready for at least `min_ready_seconds`.
[[nodiscard]] bool is_available(const core::v1::Pod& pod, std::int32_t min_ready_seconds, Time now);
/// Returns the time until the next ready pod becomes available; nothing if all are.
[[nodiscard]] std::optional<std::chrono::nanoseconds> next_available(
    const PodRefs& pods, std::int32_t min_ready_seconds, std::chrono::system_clock::time_point now);
/// Returns the number of restarts of all containers together.
[[nodiscard]] std::int64_t restarts_of(const core::v1::Pod& pod);

/// Sorts `pods` in deletion order: unassigned, pending, not ready, low deletion cost, many of
/// `related` on the same node, ready for a short time, restarted often, young.
void sort_for_deletion(PodRefs& pods, const PodRefs& related);

}  // namespace kube::testkit::detail
