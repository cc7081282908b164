// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity.hpp>

#include <optional>
#include <string_view>

#include "testkit/validation/field_check.hpp"

/// Checks for parts of pods, which templates, claims and runtime classes share.
namespace kube::testkit::detail {

void check_pod_spec(const Field& spec);
/// Checks labels, annotations and spec of a template. Ephemeral containers are not allowed in
/// templates.
void check_pod_template(const Field& shape);

/// Checks containers, init containers and ephemeral containers.
void check_containers(const Field& spec);
/// Returns the volume of that name in the spec of a pod, or null.
[[nodiscard]] const Value* find_volume(const Value& spec, std::string_view name);
/// Checks the volumes of a pod.
void check_volumes(const Field& volumes);
/// Checks the field or resource reference of a file in a downwardAPI volume.
void check_downward_field(const Field& ref);
void check_downward_resource(const Field& ref);
/// Check a relative path without `..`, and one that may be absolute.
void check_local_path(const Field& path);
void check_path_without_backsteps(const Field& path);
/// Checks a hostPath source, as in volumes of pods and persistent volumes.
void check_host_path(const Field& source);
void check_nfs(const Field& source);

/// Checks affinity, tolerations, topology spread and node selector.
void check_placement(const Field& spec);
void check_tolerations(const Field& tolerations);
void check_node_selector(const Field& selector);

/// Checks resource amounts, as in `requests` and `limits` of a container.
void check_resource_amounts(const Field& amounts);
void check_resource_requirements(const Field& resources);
/// Checks the name of a resource that a container requests.
void check_container_resource_name(const Field& amount, std::string_view name);
[[nodiscard]] bool is_standard_resource(std::string_view name);
/// Parses a quantity. Returns nothing if the value is absent or malformed.
[[nodiscard]] std::optional<Quantity> quantity_of(const Value& value);
/// Checks `must be greater than or equal to 0`, and that countable resources are integers.
void check_amount(const Field& amount, std::string_view resource);

/// Checks the spec of a claim or of a claim template.
void check_claim_spec(const Field& spec);
void check_access_modes(const Field& modes, std::string_view detail_if_missing);

}  // namespace kube::testkit::detail
