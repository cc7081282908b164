// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The statuses that kubelets write. Functions that change a pod in memory only.
namespace kube::testkit::detail {

/// Sets a condition of the pod, with the generation that was seen.
void set_pod_condition(core::v1::Pod& pod, std::string_view type, bool value,
                       std::string_view reason, const std::string& message, Time now);
/// All containers run; init containers have ended, but for sidecars. Sets the conditions, too.
void set_running(core::v1::Pod& pod, bool ready, Time now);
/// Sets Ready from the readiness gates of the pod. Returns whether it changed.
bool update_readiness(core::v1::Pod& pod, Time now);
/// All containers have ended with `exit_code`, and the pod with them.
void set_ended(core::v1::Pod& pod, std::int32_t exit_code, Time now);
/// All containers wait to be started, for a reason such as ContainerCreating.
void set_waiting(core::v1::Pod& pod, std::string_view reason, const std::string& message, Time now);
/// The containers have ended with `exit_code` and wait to be restarted.
void set_backing_off(core::v1::Pod& pod, std::int32_t exit_code, Time now);

/// When the first container started, if all run.
[[nodiscard]] Time running_since(const core::v1::Pod& pod);
/// When the containers are to be restarted; not set if they do not wait for that.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> restart_time(
    const core::v1::Pod& pod);

}  // namespace kube::testkit::detail
