// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::server {

/// Path and query of the target of a request, as views into it.
struct TargetParts {
  std::string_view path;
  std::string_view query;
};
[[nodiscard]] TargetParts split_target(std::string_view target) noexcept;

/// Parses a query into names and values, decoding '+' and valid %XX sequences.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

}  // namespace kube::server
