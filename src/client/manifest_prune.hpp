// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "manifest_plan.hpp"

#include <kube/client/client.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/rest_mapper.hpp>

#include <stop_token>
#include <vector>

namespace kube::detail {

/// Throws ManifestError if objects of the manifest do not match the selector, or if there are none;
/// std::invalid_argument if the selector is missing or malformed.
void check_prune(const Manifest& manifest, const PruneOptions& options);

/// Returns the kinds to look at, in the order in which their objects are deleted. Throws like
/// RestMapper.
[[nodiscard]] std::vector<RestMapping> kinds_to_prune(RestMapper& mapper,
                                                      const std::vector<PlannedObject>& plan,
                                                      const PruneOptions& options,
                                                      const std::stop_token& stop);

/// Deletes the objects of these kinds that are no longer in the manifest; in a dry run, only finds
/// them. `results` has those of the applied objects; appends those of the deleted ones.
void prune(const Client& client, const std::vector<RestMapping>& kinds,
           const std::vector<PlannedObject>& plan, const ManifestOptions& options,
           std::vector<ManifestResult>& results, const std::stop_token& stop);

}  // namespace kube::detail
