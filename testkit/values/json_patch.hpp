// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstddef>

namespace kube::testkit::detail {

/// What an API server lets a JSON patch do (PA-3).
struct JsonPatchLimits {
  std::size_t max_operations = 10'000;
  /// Bytes that all `copy` operations together may add, as JSON.
  std::size_t max_copied_bytes = std::size_t{3} << 20;
  /// Depth of the result; deeper ones could not be decoded again.
  std::size_t max_depth = 200;
};

/// `document` changed by the operations of a JSON patch (RFC 6902), with the habits of the real server where
/// they differ: negative indexes count from the end, `replace` may add a member, `test` for null passes and
/// `copy` yields null where a member is missing, and text before the first '/' of a path is ignored.
///
/// Throws ApiError: 400 BadRequest if `patch` is no list of well-formed operations, 413 if there are too
/// many, 422 Invalid ("the server rejected our request due to an error in our request") if one of them
/// fails, `test` included. What exactly failed is not told to clients (PA-3).
[[nodiscard]] Value json_patch(Value document, const Value& patch,
                               const JsonPatchLimits& limits = {});

}  // namespace kube::testkit::detail
