// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// What stands before "://", in lower case; empty if there is nothing of that kind.
[[nodiscard]] std::string url_scheme(std::string_view url);
/// The URL of a server without query and fragment, if it has a path longer than "/"; else as it is.
[[nodiscard]] std::string server_url(std::string_view url);
/// For messages: a password in the URL is redacted.
[[nodiscard]] std::string redacted_url(std::string_view url);

}  // namespace kube::detail
