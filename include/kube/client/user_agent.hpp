// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>

#include <string>
#include <string_view>

namespace kube {

/// Who sends a request, as servers log it: `kube-thing/v1.2.3 (linux/amd64) kubernetes/abcdef1`.
/// `version` loses what stands behind its first '-', `commit` all but seven characters; what is empty becomes
/// "unknown". An empty `program` is the name of this one.
[[nodiscard]] std::string make_user_agent(std::string_view program = {},
                                          std::string_view version = {},
                                          std::string_view commit = {});

/// The same configuration for a part of the program: its user agent ends with '/' and `role`.
[[nodiscard]] Config with_user_agent_suffix(Config config, std::string_view role);

}  // namespace kube
