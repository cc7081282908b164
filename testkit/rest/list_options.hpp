// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/fields.hpp>
#include <kube/api/labels.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// The position at which a paged list continues (PG-4).
struct ContinueToken {
  std::int64_t revision = 0;  ///< -1 is the latest (PG-6)
  std::string start;          ///< first key of the page, relative to the collection

  [[nodiscard]] std::string encode(bool leading_slash = true) const;
  /// Throws ApiError 400.
  static ContinueToken decode(std::string_view text);
};

/// Validated options of list, watch and deletecollection (RV-4, RV-6, WT-4).
struct ListOptions {
  enum class Match { kUnset, kExact, kNotOlderThan };

  labels::Selector labels;
  field_selectors::Selector fields;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial;
  std::string version_text;
  /// The value of `version_text`; nullopt if it is unset or malformed (a watch reports that later).
  std::optional<std::uint64_t> version;
  Match match = Match::kUnset;
  std::size_t limit = 0;
  std::string continue_text;
  std::int64_t timeout_seconds = 0;

  /// Throws ApiError 400 or 422.
  static ListOptions parse(const Query& query, bool watch);
};

/// Parses a resourceVersion; returns nullopt if it is malformed.
[[nodiscard]] std::optional<std::uint64_t> parse_version(std::string_view text);

}  // namespace kube::testkit::detail
