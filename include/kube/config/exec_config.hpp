// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kube {

/// Whether a plugin may prompt the user. kUnknown stands for an unrecognized mode, which is an
/// error only when the plugin is used.
enum class ExecInteractiveMode { kUnset, kNever, kIfAvailable, kAlways, kUnknown };

/// An exec credential plugin: a program that prints an ExecCredential. Cloud providers log users in
/// this way.
struct ExecConfig {
  std::string api_version = {};
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string install_hint = {};
  bool provide_cluster_info = false;
  ExecInteractiveMode interactive_mode = ExecInteractiveMode::kUnset;
  /// True if standard input has another use (kubectl apply -f -).
  bool stdin_unavailable = false;
  /// The cluster's extension `client.authentication.k8s.io/exec` as JSON; empty if it has none.
  std::string cluster_config = {};

  bool operator==(const ExecConfig&) const = default;
};

}  // namespace kube
