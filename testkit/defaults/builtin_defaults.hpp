// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <span>
#include <string_view>

#include "testkit/kinds/resource_catalog.hpp"

/// Values that built-in kinds fill in where a client says nothing (DF-1), by the part of the API that they belong to.
namespace kube::testkit::detail {

/// Defaults of one resource.
struct KindDefaults {
  std::string_view resource;  ///< Resource::id(), such as "deployments.apps"
  void (*apply)(const Resource& resource, Value& object);
};

[[nodiscard]] std::span<const KindDefaults> core_defaults();
[[nodiscard]] std::span<const KindDefaults> workload_defaults();
[[nodiscard]] std::span<const KindDefaults> network_defaults();
[[nodiscard]] std::span<const KindDefaults> storage_defaults();
[[nodiscard]] std::span<const KindDefaults> device_defaults();
/// Kinds that configure the API server itself: roles, webhooks, policies, definitions, flow control.
[[nodiscard]] std::span<const KindDefaults> server_defaults();

}  // namespace kube::testkit::detail
