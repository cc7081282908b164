// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/routing.hpp"

#include "base/text.hpp"
#include <kube/api/fields.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "testkit/validation/name_rules.hpp"

namespace kube::testkit::detail {

namespace {

std::string verb_of(std::string_view method, bool has_name, bool watch) {
  if (method == "GET") return has_name ? "get" : watch ? "watch" : "list";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return has_name ? "delete" : "deletecollection";
  return kube::detail::lower_case(method);
}

}  // namespace

Route Route::parse(std::string_view method, const RequestUrl& url) {
  Route route;
  const std::vector<std::string>& parts = url.segments;
  route.verb = kube::detail::lower_case(method);
  route.malformed =
      std::ranges::any_of(parts, [](const std::string& part) { return part.empty(); });
  std::size_t at = 0;
  if (parts.size() > 2 && parts[0] == "api") {
    route.version = parts[1];
    at = 2;
  } else if (parts.size() > 3 && parts[0] == "apis") {
    route.group = parts[1];
    route.version = parts[2];
    at = 3;
  } else {
    return route;
  }
  route.is_resource = true;
  if (parts[at] == "watch" && at + 1 < parts.size()) {
    route.watch_prefix = true;
    ++at;
  }
  // A namespace, unless the rest is a subresource of the Namespace itself.
  if (parts[at] == "namespaces" && at + 2 < parts.size() &&
      !(at + 3 == parts.size() && (parts[at + 2] == "status" || parts[at + 2] == "finalize"))) {
    route.namespace_ = parts[at + 1];
    at += 2;
  }
  route.resource = parts[at++];
  if (at < parts.size()) route.name = parts[at++];
  if (at < parts.size()) route.subresource = parts[at++];
  if (at < parts.size() && route.subresource != "proxy") route.malformed = true;
  route.verb = route.watch_prefix && method == "GET"
                   ? "watch"
                   : verb_of(method, !route.name.empty(), url.query.flag("watch"));
  route.authorized_name = route.name;
  if (route.name.empty() && (route.verb == "list" || route.verb == "watch")) {
    try {
      const auto selector = field_selectors::Selector::parse(url.query.text("fieldSelector"));
      const auto name = selector.requires_exact("metadata.name");
      if (name && path_segment_problems(*name).empty()) route.authorized_name = *name;
    } catch (const std::invalid_argument&) {  // reported when the options are parsed
    }
  }
  return route;
}

}  // namespace kube::testkit::detail
