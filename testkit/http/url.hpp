// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/url.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

using kube::detail::Query;

/// Returns an integer parameter; nullopt if there is none. Throws ApiError 400 that names the
/// parameter if it is not an integer.
[[nodiscard]] std::optional<std::int64_t> integer_parameter(const Query& query,
                                                            std::string_view name);

/// A parsed request target.
struct RequestUrl {
  /// Decoded, with a leading slash.
  std::string path;
  /// The parts between the slashes. A trailing slash adds no segment, a double slash adds an empty
  /// one.
  std::vector<std::string> segments;
  Query query;

  /// Throws ApiError 400 if `target` is malformed.
  static RequestUrl parse(std::string_view target);
};

}  // namespace kube::testkit::detail
