// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

/// The decoded query parameters of a request, in the order sent.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view encoded);

  /// Returns the first value of that name; empty if there is none.
  [[nodiscard]] std::string_view text(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Returns a boolean parameter (RQ-5): absent, `false` and `0` are false, anything else is true.
  [[nodiscard]] bool flag(std::string_view name) const noexcept;
  /// Returns an integer parameter. Throws ApiError 400 that names the parameter if it is not an
  /// integer.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

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
