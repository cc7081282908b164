// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/request_log_info.hpp"

#include "testkit/requests/routing.hpp"

#include <kube/base/error.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace kube::testkit::detail {

RequestInfo describe_request(const ServerRequest& request) {
  RequestInfo info;
  info.method = request.method;
  const std::string_view target = request.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  info.path = target.substr(0, mark);
  info.query = target.substr(std::min(mark + 1, target.size()));
  if (const std::string* agent = find_header(request.headers, "User-Agent")) {
    info.user_agent = *agent;
  }
  try {
    Route route = Route::parse(request.method, RequestUrl::parse(target));
    info.verb = std::move(route.verb);
    if (!route.is_resource) return info;
    info.group = std::move(route.group);
    info.version = std::move(route.version);
    info.resource = std::move(route.resource);
    info.subresource = std::move(route.subresource);
    info.namespace_ = std::move(route.namespace_);
    info.name = std::move(route.name);
  } catch (const Error&) {
    // A malformed target; path and query are logged as sent.
  }
  return info;
}

}  // namespace kube::testkit::detail
