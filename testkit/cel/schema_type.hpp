// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"

#include <kube/object/value.hpp>

#include <string_view>

namespace kube::testkit::cel {

/// The type of values that a structural schema describes; null if expressions cannot see them, as nothing says what they
/// are. A resource root has apiVersion, kind, metadata.name and metadata.generateName, whatever its schema says. `name`
/// is that of the type in messages.
[[nodiscard]] TypePtr type_of_schema(const Value& schema, bool is_resource_root,
                                     std::string_view name);

}  // namespace kube::testkit::cel
