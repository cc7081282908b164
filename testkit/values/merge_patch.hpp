// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

namespace kube::testkit::detail {

/// Applies a JSON merge patch (RFC 7386) to `target`: null removes a member, objects are merged,
/// everything else is replaced. Throws ApiError 400 if `patch` is not a JSON object (PA-3). Time is
/// linear in the size of both.
[[nodiscard]] Value merge_patch(Value target, const Value& patch);

/// Returns a copy without null members, also inside list elements. In a patch, null asks for a
/// removal where there is nothing to remove.
[[nodiscard]] Value without_nulls(const Value& value);

}  // namespace kube::testkit::detail
