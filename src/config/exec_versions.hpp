// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/exec_config.hpp>

#include <string_view>

namespace kube::detail {

inline constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
inline constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";
/// Name of the cluster extension that is passed to plugins.
inline constexpr const char* kExecExtension = "client.authentication.k8s.io/exec";

/// Returns the interactive mode, or the default of the API version if none is set; kUnset if that
/// version has no default.
[[nodiscard]] inline ExecInteractiveMode interactive_mode(const ExecConfig& exec) noexcept {
  if (exec.interactive_mode == ExecInteractiveMode::kUnset && exec.api_version == kExecV1Beta1) {
    return ExecInteractiveMode::kIfAvailable;
  }
  return exec.interactive_mode;
}

}  // namespace kube::detail
