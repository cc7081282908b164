// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"

/// Checks of Host and Origin: protection against DNS rebinding and cross-site requests (AU-7 to
/// AU-9).
///
/// A browser on the same machine sends requests on behalf of any page: cross-origin to a loopback
/// address, or, after DNS rebinding, with the rights of the page's own origin. The server detects
/// both by headers that pages cannot set.
namespace kube::testkit::detail {

struct OriginPolicy {
  /// With TLS, Host is checked only for requests without credentials; with plain HTTP, for all
  /// requests.
  bool tls = false;
  /// The address that the server listens on; an unspecified address (0.0.0.0, ::) matches every IP
  /// address.
  std::string listen = "127.0.0.1";
  /// Additional names of the server. They are accepted as origins, too.
  std::vector<std::string> allow_hosts = {};
};

/// Returns the host of "name:port", "[::1]:port" or a bare host, in lower case, without brackets
/// and trailing dot; empty if it is malformed.
[[nodiscard]] std::string host_of(std::string_view authority);

/// Throws ApiError 403, or 415 for a write from a page without a content type. The message names
/// the remedy.
void check_origin(const OriginPolicy& policy, const ServerRequest& request);

}  // namespace kube::testkit::detail
