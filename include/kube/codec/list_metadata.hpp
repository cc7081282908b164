// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kube {

/// The fields of a list other than its items.
struct ListMetadata {
  /// The state of the server that the list represents.
  std::string resource_version = {};
  /// Token for the next page of a list (ListOptions::continue_token); empty on the last page.
  std::string continue_token = {};
  /// The number of objects on later pages, if the server reports it; it may be an estimate.
  std::optional<std::int64_t> remaining_item_count = std::nullopt;
  std::string api_version = {};
  std::string kind = {};
};

}  // namespace kube
