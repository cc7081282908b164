// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kube {

/// Whether a plugin may ask the user. kUnknown is a word that no mode has; only using it is an error.
enum class ExecInteractiveMode { kUnset, kNever, kIfAvailable, kAlways, kUnknown };

/// A program that prints an ExecCredential: how users of cloud providers log in.
struct ExecConfig {
  std::string api_version = {};
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string install_hint = {};
  bool provide_cluster_info = false;
  ExecInteractiveMode interactive_mode = ExecInteractiveMode::kUnset;
  /// The standard input is used for something else (kubectl apply -f -).
  bool stdin_unavailable = false;
  /// The cluster's extension `client.authentication.k8s.io/exec` as JSON, empty if it has none.
  std::string cluster_config = {};

  bool operator==(const ExecConfig&) const = default;
};

}  // namespace kube
