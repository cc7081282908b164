// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/metrics.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

namespace kube::testkit::detail {

namespace {

/// Returns the verb as an API server labels it.
std::string_view label_of(std::string_view verb) {
  struct Verb {
    std::string_view verb;
    std::string_view label;
  };
  static constexpr Verb kVerbs[] = {
      {"create", "POST"}, {"delete", "DELETE"}, {"deletecollection", "DELETECOLLECTION"},
      {"get", "GET"},     {"list", "LIST"},     {"patch", "PATCH"},
      {"update", "PUT"},  {"watch", "WATCH"}};
  for (const Verb& known : kVerbs) {
    if (known.verb == verb) return known.label;
  }
  return "other";
}

bool is_served(const Route& route, const Catalog& catalog) {
  if (!route.is_resource || route.malformed) return false;
  const ResourcePtr resource = catalog.find(route.group, route.version, route.resource);
  return resource != nullptr &&
         (route.subresource.empty() || resource->subresource(route.subresource) != nullptr);
}

}  // namespace

void RequestMetrics::count(const Route& route, const Catalog& catalog, int code) noexcept {
  try {
    const bool known = is_served(route, catalog);
    Labels labels{label_of(route.verb),           known ? route.group : "",
                  known ? route.version : "",     known ? route.resource : "",
                  known ? route.subresource : "", code};
    const std::lock_guard lock{mutex_};
    ++counts_[std::move(labels)];
  } catch (const std::exception&) {  // NOLINT: as the comment in the header says
  }
}

std::string RequestMetrics::text() const {
  std::string text =
      "# HELP apiserver_request_total Requests by verb, resource and code.\n"
      "# TYPE apiserver_request_total counter\n";
  const std::lock_guard lock{mutex_};
  for (const auto& [labels, number] : counts_) {
    const auto& [verb, group, version, resource, subresource, code] = labels;
    text += fmt::format(
        "apiserver_request_total{{code=\"{}\",group=\"{}\",resource=\"{}\",subresource=\"{}\","
        "verb=\"{}\",version=\"{}\"}} {}\n",
        code, group, resource, subresource, verb, version, number);
  }
  return text;
}

}  // namespace kube::testkit::detail
