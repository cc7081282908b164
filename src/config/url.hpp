// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// Returns the part before "://" in lower case; empty if there is none.
[[nodiscard]] std::string url_scheme(std::string_view url);
/// Returns a server URL without query and fragment, if its path is longer than "/"; else unchanged.
[[nodiscard]] std::string server_url(std::string_view url);
/// Returns the URL for messages, with its password redacted.
[[nodiscard]] std::string redacted_url(std::string_view url);

}  // namespace kube::detail
