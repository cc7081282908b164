// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>

namespace kube::bench {

/// What an API server writes into managedFields for a manager that set all of `object`: every field,
/// and the elements of lists that have a merge key by that key. Knows the lists of pods.
[[nodiscard]] std::string field_set(const Value& object);

}  // namespace kube::bench
