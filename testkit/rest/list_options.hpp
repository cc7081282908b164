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

/// Where a paged list goes on (PG-4).
struct ContinueToken {
  std::int64_t revision = 0;  ///< -1: the latest (PG-6)
  std::string start;          ///< the key to start from, relative to the collection

  [[nodiscard]] std::string encode(bool leading_slash = true) const;
  /// Throws ApiError 400.
  static ContinueToken decode(std::string_view text);
};

/// Options of list, watch and deletecollection, checked (RV-4, RV-6, WT-4).
struct ListOptions {
  enum class Match { kUnset, kExact, kNotOlderThan };

  labels::Selector labels;
  field_selectors::Selector fields;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial;
  std::string version_text;
  /// Of `version_text`; nothing if it is unset or (for a watch, which reports that late) malformed.
  std::optional<std::uint64_t> version;
  Match match = Match::kUnset;
  std::size_t limit = 0;
  std::string continue_text;
  std::int64_t timeout_seconds = 0;

  /// Throws ApiError 400 or 422.
  static ListOptions parse(const Query& query, bool watch);
};

/// A resourceVersion; nothing if it is not one.
[[nodiscard]] std::optional<std::uint64_t> parse_version(std::string_view text);

}  // namespace kube::testkit::detail
