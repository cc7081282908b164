// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"

/// Which names a server answers to, and which web pages may speak to it (AU-7 to AU-9).
///
/// A browser on the same machine carries requests for any page: to a loopback address directly, and, once the name of
/// the page resolves to one, with the rights of the page's own origin. The server tells both by headers that pages
/// cannot set.
namespace kube::testkit::detail {

struct OriginPolicy {
  /// Whether Host is checked for everybody (plain HTTP), or only for requests without credentials.
  bool tls = false;
  /// The address that the server listens on; an unspecified one (0.0.0.0, ::) stands for every IP address.
  std::string listen = "127.0.0.1";
  /// Further names of the server. They count as origins as well.
  std::vector<std::string> allow_hosts = {};
};

/// The host of "name:port", "[::1]:port" or a bare one, in lower case, without brackets and final dot; empty if it is
/// none of these.
[[nodiscard]] std::string host_of(std::string_view authority);

/// Throws ApiError 403 (or 415, for a write that a page made without a content type) that says what to do about it.
void check_origin(const OriginPolicy& policy, const ServerRequest& request);

}  // namespace kube::testkit::detail
