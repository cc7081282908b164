// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <string_view>

namespace kube::testkit::detail {

/// The schema of a built-in kind, apiVersion and kind included, or null if there is none: ("apps", "v1",
/// "Deployment"), ("", "v1", "Pod"). Lives as long as the program; read from the data of schema/ on first use.
/// Thread safety: may be called from any thread.
[[nodiscard]] const SchemaNode* builtin_schema(std::string_view group, std::string_view version,
                                               std::string_view kind);

/// An object of that kind in which nothing is set, as Go writes it: some fields are there nevertheless.
[[nodiscard]] Value zero_object(const SchemaNode& schema);

/// The facts that it is made from (schema/README.md says what is in there).
[[nodiscard]] const Value& builtin_facts();

/// The schema of metadata of every object.
[[nodiscard]] const SchemaNode& object_meta_schema();

}  // namespace kube::testkit::detail
