// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kube {

/// The type of a watch event.
enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// The name on the wire: "ADDED", ...
[[nodiscard]] std::string_view to_string(EventType type) noexcept;

}  // namespace kube
