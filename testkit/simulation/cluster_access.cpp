// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/cluster_access.hpp"

#include <kube/object/value.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

std::chrono::nanoseconds ClusterAccess::until(Clock::WallTime time) const {
  return std::max(std::chrono::nanoseconds{0},
                  std::chrono::duration_cast<std::chrono::nanoseconds>(time - clock_.wall_now()));
}

std::string ClusterAccess::target(const ResourceInfo& resource, std::string_view namespace_,
                                  std::string_view name, std::string_view subresource) {
  std::string path = resource.group.empty()
                         ? fmt::format("/api/{}", resource.version)
                         : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (resource.namespaced) path += fmt::format("/namespaces/{}", namespace_);
  path += fmt::format("/{}", resource.plural);
  if (!name.empty()) path += fmt::format("/{}", name);
  if (!subresource.empty()) path += fmt::format("/{}", subresource);
  return path;
}

Ref<Value> ClusterAccess::read(const std::string& path) const {
  try {
    return engine_.request("GET", path);
  } catch (const ApiError& error) {
    if (is_not_found(error)) return nullptr;
    throw;
  }
}

std::string ClusterAccess::request(std::string_view method, const std::string& target,
                                   std::string body) {
  return engine_.request_json(method, target, std::move(body), "application/json", agent_);
}

void ClusterAccess::remove(const std::string& target, std::string_view uid,
                           std::optional<int> grace_seconds) {
  Value options = Value::object({{"preconditions", Value::object({{"uid", uid}})}});
  if (grace_seconds) options["gracePeriodSeconds"] = *grace_seconds;
  // For compatibility with old clients, deleting a job orphans its pods by default.
  options["propagationPolicy"] = "Background";
  try {
    request("DELETE", target, encode_json(options));
  } catch (const ApiError& error) {
    // Another client deleted the object first, and may have created a new one of the same name.
    if (!is_not_found(error) && !is_conflict(error)) throw;
  }
}

}  // namespace kube::testkit::detail
