// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity.hpp>

#include <optional>
#include <string_view>

#include "testkit/validation/field_check.hpp"

/// Parts of pods, which templates, claims and runtime classes share.
namespace kube::testkit::detail {

void check_pod_spec(const Field& spec);
/// Labels, annotations and spec of a template; ephemeral containers are not for templates.
void check_pod_template(const Field& shape);

/// Containers, init containers and ephemeral ones with all they hold.
void check_containers(const Field& spec);
/// The volume of that name in the spec of a pod, or null.
[[nodiscard]] const Value* find_volume(const Value& spec, std::string_view name);
/// Volumes of a pod.
void check_volumes(const Field& volumes);
/// The field or resource that a file of a downwardAPI volume shows.
void check_downward_field(const Field& ref);
void check_downward_resource(const Field& ref);
/// A relative path without `..`, and one that may be absolute.
void check_local_path(const Field& path);
void check_path_without_backsteps(const Field& path);
/// An absolute path on a host, as in volumes of pods and persistent volumes.
void check_host_path(const Field& source);
void check_nfs(const Field& source);

/// affinity, tolerations, topology spread and node selector.
void check_placement(const Field& spec);
void check_tolerations(const Field& tolerations);
void check_node_selector(const Field& selector);

/// Amounts of resources, as in `requests` and `limits` of a container.
void check_resource_amounts(const Field& amounts);
void check_resource_requirements(const Field& resources);
/// The name of a resource that a container may ask for.
void check_container_resource_name(const Field& amount, std::string_view name);
[[nodiscard]] bool is_standard_resource(std::string_view name);
/// Nothing if it is absent or no quantity.
[[nodiscard]] std::optional<Quantity> quantity_of(const Value& value);
/// `must be greater than or equal to 0`, and whole numbers for resources that are counted.
void check_amount(const Field& amount, std::string_view resource);

/// The spec of a claim, also of the template of one.
void check_claim_spec(const Field& spec);
void check_access_modes(const Field& modes, std::string_view detail_if_missing);

}  // namespace kube::testkit::detail
