// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// The address of a server or of a proxy, taken apart.
struct Url {
  /// In lower case.
  std::string scheme;
  /// Decoded.
  std::string user;
  std::string password;
  /// A name or an address; IPv6 without brackets.
  std::string host;
  int port = 0;
  /// As it is written, without query and fragment; empty or beginning with '/'.
  std::string path;
};

/// Without a scheme, it is `usual_scheme`. Throws TransportError (kProtocol) that begins with `what` and has
/// nothing of the text, in which a password may stand.
[[nodiscard]] Url parse_url(std::string_view text, std::string_view usual_scheme,
                            std::string_view what);

}  // namespace kube::detail
