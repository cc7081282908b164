// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

namespace kube::testkit::detail {

/// Applies a strategic merge patch to `target` (PA-5, PA-6): objects are merged, lists with a merge
/// strategy are merged by their key or as sets, others are replaced, null removes. Directives:
/// `$patch: replace|merge|delete`, `$retainKeys`, `$setElementOrder/<field>`,
/// `$deleteFromPrimitiveList/<field>`.
///
/// `schema` is the schema of the kind. Throws ApiError: 400 if the patch is not an object or a
/// directive is malformed, 500 with an empty reason for an element without its merge key.
[[nodiscard]] Value strategic_merge(Value target, const Value& patch, const SchemaNode& schema);

}  // namespace kube::testkit::detail
