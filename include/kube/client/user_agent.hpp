// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>

#include <string>
#include <string_view>

namespace kube {

/// Returns a User-Agent header: `kube-thing/v1.2.3 (linux/amd64) kubernetes/abcdef1`. `version` is
/// cut at its first '-', `commit` after seven characters; empty parts become "unknown". If
/// `program` is empty, the name of this executable is used.
[[nodiscard]] std::string make_user_agent(std::string_view program = {},
                                          std::string_view version = {},
                                          std::string_view commit = {});

/// Returns `config` with '/' and `role` appended to its user agent, for one component of a program.
[[nodiscard]] Config with_user_agent_suffix(Config config, std::string_view role);

}  // namespace kube
