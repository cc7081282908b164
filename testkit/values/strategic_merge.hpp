// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

namespace kube::testkit::detail {

/// `target` changed by a strategic merge patch (PA-5, PA-6): objects merge, lists with a merge strategy
/// merge by their key or as sets, others are replaced, null removes. Directives: `$patch: replace|merge|delete`,
/// `$retainKeys`, `$setElementOrder/<field>`, `$deleteFromPrimitiveList/<field>`.
///
/// `schema` is that of the kind. Throws ApiError: 400 for a patch that is no object or for a malformed
/// directive, 500 with an empty reason for an element without its merge key.
[[nodiscard]] Value strategic_merge(Value target, const Value& patch, const SchemaNode& schema);

}  // namespace kube::testkit::detail
