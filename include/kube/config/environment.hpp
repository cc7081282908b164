// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

namespace kube {

/// Returns the current environment variables of this process.
[[nodiscard]] std::map<std::string, std::string> process_variables();
/// Returns whether standard input is a terminal, so that a plugin can prompt the user.
[[nodiscard]] bool standard_input_is_terminal();

/// The surroundings that the configuration reads. Tests replace them.
///
/// Thread safety: the functions are called from any thread.
struct Environment {
  std::function<std::map<std::string, std::string>()> variables = process_variables;
  std::function<bool()> stdin_is_terminal = standard_input_is_terminal;
  /// Folder with `token`, `ca.crt` and `namespace` in a pod.
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";

  /// Returns the value of a variable; empty if it is not set.
  [[nodiscard]] std::string variable(const std::string& name) const;
};

}  // namespace kube
