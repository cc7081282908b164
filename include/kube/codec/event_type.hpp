// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kube {

/// The kind of a watch event.
enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// "ADDED", ...: as on the wire.
[[nodiscard]] std::string_view to_string(EventType type) noexcept;

}  // namespace kube
