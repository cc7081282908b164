// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// The parts of the URL of a server or proxy.
struct Url {
  /// In lower case.
  std::string scheme;
  /// Percent-decoded.
  std::string user;
  std::string password;
  /// A name or an address; IPv6 without brackets.
  std::string host;
  int port = 0;
  /// As written, without query and fragment; empty or starting with '/'.
  std::string path;
};

/// Parses a URL; `usual_scheme` is the default scheme. Throws TransportError (kProtocol) whose
/// message begins with `what` and does not quote the text, which may contain a password.
[[nodiscard]] Url parse_url(std::string_view text, std::string_view usual_scheme,
                            std::string_view what);

}  // namespace kube::detail
