// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"

#include <kube/object/value.hpp>

#include <string_view>

namespace kube::testkit::cel {

/// Returns the type of the values that a structural schema describes, or null if the schema gives
/// no type and expressions cannot access the values. A resource root always has apiVersion, kind,
/// metadata.name and metadata.generateName. `name` is the type's name in messages.
[[nodiscard]] TypePtr type_of_schema(const Value& schema, bool is_resource_root,
                                     std::string_view name);

}  // namespace kube::testkit::cel
