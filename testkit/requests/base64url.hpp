// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Encodes as base64url without padding (RFC 4648, section 5), as in JSON web tokens.
[[nodiscard]] std::string base64url_encode(std::string_view bytes);
/// Returns nullopt if `text` is malformed.
[[nodiscard]] std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace kube::testkit::detail
