// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/config/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// The credential that a plugin returned.
struct ExecCredential {
  SecretText token = {};
  /// PEM, validated; both are set or neither.
  std::string certificate = {};
  SecretText key = {};
  /// If not set, the credential is valid until a server refuses it.
  std::optional<Clock::WallTime> expires = std::nullopt;

  /// Returns the Authorization header; empty if there is no token.
  [[nodiscard]] std::string authorization() const {
    return token.empty() ? std::string{} : "Bearer " + token;
  }
};

/// Parses the output of a plugin. Throws ConfigError, whose message does not quote the output.
[[nodiscard]] ExecCredential parse_exec_credential(std::string_view output,
                                                   const std::string& api_version);

/// Returns the cluster in the JSON form that plugins receive; a CA file is inlined. Throws
/// ConfigError if that file cannot be read.
[[nodiscard]] std::string exec_cluster(const Config& config);

/// Returns the value of KUBERNETES_EXEC_INFO. `cluster` is JSON, or empty for none.
[[nodiscard]] std::string exec_info(const std::string& api_version, bool is_interactive,
                                    const std::string& cluster);

}  // namespace kube::detail
