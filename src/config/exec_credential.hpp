// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/config/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// What a plugin answers.
struct ExecCredential {
  SecretText token = {};
  /// PEM, both or none, checked.
  std::string certificate = {};
  SecretText key = {};
  /// Without it, the credential is good until a server refuses it.
  std::optional<Clock::WallTime> expires = std::nullopt;

  /// The header to send; empty if there is no token.
  [[nodiscard]] std::string authorization() const {
    return token.empty() ? std::string{} : "Bearer " + token;
  }
};

/// What a plugin printed. Throws ConfigError, whose message has nothing of the content.
[[nodiscard]] ExecCredential parse_exec_credential(std::string_view output,
                                                   const std::string& api_version);

/// The cluster as plugins are told of it, as JSON; a CA in a file is inlined. Throws ConfigError if that cannot
/// be read.
[[nodiscard]] std::string exec_cluster(const Config& config);

/// The value of KUBERNETES_EXEC_INFO. `cluster` is JSON, or empty for none.
[[nodiscard]] std::string exec_info(const std::string& api_version, bool is_interactive,
                                    const std::string& cluster);

}  // namespace kube::detail
