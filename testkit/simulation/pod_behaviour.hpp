// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Annotation that selects how the containers of a simulated pod end.
inline constexpr std::string_view kOutcomeAnnotation = "simulation.kubecxx/outcome";
/// Run time of the containers before they end, such as "90s"; zero if missing.
inline constexpr std::string_view kAfterAnnotation = "simulation.kubecxx/after";
/// Time that the containers take to stop when the pod is deleted, at most the grace period; zero if
/// missing.
inline constexpr std::string_view kStopAfterAnnotation = "simulation.kubecxx/stop-after";

/// The behaviour of a pod, from its annotations and its restart policy.
struct PodBehaviour {
  enum class Outcome {
    kPending,    ///< the containers are never started
    kUnready,    ///< they run and never become ready
    kRunning,    ///< they run for ever
    kSucceeded,  ///< they end with exit code 0
    kFailed,     ///< they end with exit code 1
  };
  Outcome outcome = Outcome::kRunning;
  std::chrono::nanoseconds after{0};
  std::chrono::nanoseconds stop_after{0};
  /// The reason why the annotations are invalid; empty if they are valid.
  std::string problem = {};

  [[nodiscard]] bool ends() const noexcept {
    return outcome == Outcome::kSucceeded || outcome == Outcome::kFailed;
  }
};

/// Parses the annotations. Without them, pods with the restart policy Always run for ever, and
/// others succeed at once.
[[nodiscard]] PodBehaviour behaviour_of(const core::v1::Pod& pod);

}  // namespace kube::testkit::detail
