// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kube::detail {

/// True if `text` is well-formed UTF-8. Fast for ASCII.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace kube::detail
