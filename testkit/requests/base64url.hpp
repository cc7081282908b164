// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Base64 in the alphabet for URLs, without padding (RFC 4648, 5), as tokens use it.
[[nodiscard]] std::string base64url_encode(std::string_view bytes);
/// Nothing if the text is malformed.
[[nodiscard]] std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace kube::testkit::detail
