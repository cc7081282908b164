// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace kube::detail {

/// Throws ConfigError, naming `source`, unless there is a certificate in the PEM text.
void check_ca(const std::string& pem, const std::string& source);
/// Throws ConfigError, naming `source`, unless both are PEM and belong together. The message has nothing of
/// the key.
void check_pair(const std::string& certificate, const std::string& key, const std::string& source);
/// When the first certificate, which has been checked, expires.
[[nodiscard]] std::chrono::system_clock::time_point expiry_of(const std::string& certificate);

}  // namespace kube::detail
