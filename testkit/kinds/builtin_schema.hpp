// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <string_view>

namespace kube::testkit::detail {

/// Returns the schema of a built-in kind, including apiVersion and kind, or null: ("apps", "v1",
/// "Deployment"), ("", "v1", "Pod"). Built from the data of schema/ on first use; never destroyed.
///
/// Thread safety: may be called from any thread.
[[nodiscard]] const SchemaNode* builtin_schema(std::string_view group, std::string_view version,
                                               std::string_view kind);

/// Returns an object of that kind with no field set, as Go encodes it: some fields are present
/// nevertheless.
[[nodiscard]] Value zero_object(const SchemaNode& schema);

/// Returns the facts from which the schemas are built (see schema/README.md).
[[nodiscard]] const Value& builtin_facts();

/// Returns the schema of ObjectMeta.
[[nodiscard]] const SchemaNode& object_meta_schema();

}  // namespace kube::testkit::detail
