// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Encodes as standard base64 with padding (RFC 4648), as Go encodes bytes in JSON.
[[nodiscard]] std::string base64_encode(std::string_view bytes);
/// Appends the encoded bytes to `out`.
void base64_append(std::string& out, std::string_view bytes);

/// Upper bound of the decoded size of `text`.
[[nodiscard]] constexpr std::size_t base64_capacity(std::string_view text) {
  return text.size() / 4 * 3 + 3;
}
/// Decodes into `to`, which has room for base64_capacity(text) bytes; line breaks are skipped.
/// Returns the decoded size, or nullopt if the text is malformed.
[[nodiscard]] std::optional<std::size_t> base64_decode(std::string_view text, char* to);
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace kube
