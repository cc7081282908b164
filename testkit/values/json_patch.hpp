// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstddef>

namespace kube::testkit::detail {

/// The limits of an API server for JSON patches (PA-3).
struct JsonPatchLimits {
  std::size_t max_operations = 10'000;
  /// Bytes that all `copy` operations together may add, as JSON.
  std::size_t max_copied_bytes = std::size_t{3} << 20;
  /// Maximum depth of the result; deeper documents could not be decoded again.
  std::size_t max_depth = 200;
};

/// Applies a JSON patch (RFC 6902) to `document`, with the deviations of the real server: negative
/// indexes count from the end, `replace` may add a member, `test` for null passes and `copy` yields
/// null where a member is missing, and text before the first '/' of a path is ignored.
///
/// Throws ApiError: 400 BadRequest if `patch` is not a list of well-formed operations, 413 if there
/// are too many, 422 Invalid ("the server rejected our request due to an error in our request") if
/// one of them fails, including `test`. The error does not name the failed operation (PA-3).
[[nodiscard]] Value json_patch(Value document, const Value& patch,
                               const JsonPatchLimits& limits = {});

}  // namespace kube::testkit::detail
