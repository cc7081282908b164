// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Pod statuses as kubelets write them. The functions change a pod in memory only.
namespace kube::testkit::detail {

/// Sets a condition of the pod, with the observed generation.
void set_pod_condition(core::v1::Pod& pod, std::string_view type, bool value,
                       std::string_view reason, const std::string& message, Time now);
/// Marks all containers as running; init containers other than sidecars as completed. Sets the
/// conditions, too.
void set_running(core::v1::Pod& pod, bool ready, Time now);
/// Sets Ready from the readiness gates of the pod. Returns whether it changed.
bool update_readiness(core::v1::Pod& pod, Time now);
/// Marks all containers and the pod as finished with `exit_code`.
void set_ended(core::v1::Pod& pod, std::int32_t exit_code, Time now);
/// Marks all containers as waiting, with a reason such as ContainerCreating.
void set_waiting(core::v1::Pod& pod, std::string_view reason, const std::string& message, Time now);
/// Marks the containers as finished with `exit_code` and waiting to be restarted.
void set_backing_off(core::v1::Pod& pod, std::int32_t exit_code, Time now);

/// Returns the start time of the first container, if all run.
[[nodiscard]] Time running_since(const core::v1::Pod& pod);
/// Returns the time at which the containers are restarted; not set if no restart is pending.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> restart_time(
    const core::v1::Pod& pod);

}  // namespace kube::testkit::detail
