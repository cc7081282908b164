// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

namespace kube::testkit::detail {

/// `target` changed as the JSON merge patch says (RFC 7386): null removes a member, objects are merged,
/// everything else replaces. `patch` is a JSON object; anything else throws ApiError 400 (PA-3).
/// Time is linear in the two together.
[[nodiscard]] Value merge_patch(Value target, const Value& patch);

/// A copy without members that are null, also of elements of lists; in a patch they ask for a removal where there is
/// nothing to remove.
[[nodiscard]] Value without_nulls(const Value& value);

}  // namespace kube::testkit::detail
