// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

namespace kube {

/// The variables of this process, as they are now.
[[nodiscard]] std::map<std::string, std::string> process_variables();
/// Whether a person may answer questions there.
[[nodiscard]] bool standard_input_is_terminal();

/// What the configuration takes from its surroundings; tests put their own in place.
///
/// Thread safety: the functions are called from any thread.
struct Environment {
  std::function<std::map<std::string, std::string>()> variables = process_variables;
  std::function<bool()> stdin_is_terminal = standard_input_is_terminal;
  /// Where a pod finds `token`, `ca.crt` and `namespace`.
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";

  /// A variable; empty if it is not set.
  [[nodiscard]] std::string variable(const std::string& name) const;
};

}  // namespace kube
