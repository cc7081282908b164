// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/lister.hpp>

#include <fmt/format.h>

namespace kube {

ApiError not_found_error(const GroupResource& resource, std::string_view name) {
  meta::v1::Status status;
  status.status = "Failure";
  status.code = 404;
  status.reason = meta::v1::status_reason::kNotFound;
  auto& details = status.details.emplace();
  details.group = resource.group;
  details.kind = resource.resource;
  details.name = name;
  status.message = fmt::format("{} \"{}\" not found", to_string(resource), name);
  return ApiError{std::move(status)};
}

}  // namespace kube
