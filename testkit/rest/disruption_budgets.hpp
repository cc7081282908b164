// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>

namespace kube::testkit::detail {

/// Spends one disruption of a PodDisruptionBudget for the eviction of `pod` at the time `now`, and
/// records it in the status of `budget` (DL-11). Returns false if the eviction costs nothing,
/// because the pod is not ready and does not count. Throws ApiError 429 if the budget does not
/// allow the eviction.
bool spend_disruption(Value& budget, const Value& pod, const std::string& now);

}  // namespace kube::testkit::detail
