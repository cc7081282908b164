// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>

namespace kube::bench {

/// Returns the managedFields content that an API server writes for a manager that set all of
/// `object`: every field, and elements of lists with a merge key by that key. Supports the lists of
/// pods.
[[nodiscard]] std::string field_set(const Value& object);

}  // namespace kube::bench
