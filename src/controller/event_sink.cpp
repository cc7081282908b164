// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_sink.hpp>

#include <kube/api/validation.hpp>
#include <kube/controller/identity.hpp>

#include <fmt/format.h>

namespace kube::detail {

bool is_event_type(std::string_view type) noexcept { return type == "Normal" || type == "Warning"; }

std::string event_name(std::string_view object_name, std::chrono::system_clock::time_point now) {
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
  std::string name = fmt::format("{}.{:x}", object_name, since_epoch.count());
  return validation::is_dns1123_subdomain(name) ? name : random_uuid();
}

}  // namespace kube::detail
