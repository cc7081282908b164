// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kube {

/// The fields of a list besides its items.
struct ListMetadata {
  /// The state of the server that the list shows.
  std::string resource_version = {};
  /// Continues a list that the server has cut short (ListOptions::continue_token); empty at its end.
  std::string continue_token = {};
  std::optional<std::int64_t> remaining_item_count = std::nullopt;
  std::string api_version = {};
  std::string kind = {};
};

}  // namespace kube
