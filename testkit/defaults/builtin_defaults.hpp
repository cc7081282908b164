// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <span>
#include <string_view>

#include "testkit/kinds/resource_catalog.hpp"

/// Defaults of built-in kinds for fields that a client does not set (DF-1), by API group.
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
/// Defaults of the kinds that configure the API server itself: roles, webhooks, policies,
/// definitions, flow control.
[[nodiscard]] std::span<const KindDefaults> server_defaults();

}  // namespace kube::testkit::detail
