// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Thrown if a search takes too many steps.
struct PatternTooComplex {};

/// A regular expression of a schema. Searches like Go: anywhere in the text; `^` and `$` match only
/// at the ends of the whole text. Needs neither deep recursion nor exponential time: a search that
/// takes too many steps fails.
class Pattern {
 public:
  /// Compiles the expression. Throws std::invalid_argument with the reason.
  explicit Pattern(std::string_view expression);
  [[nodiscard]] bool found_in(std::string_view text) const;

  struct Match {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  /// Returns the first match that begins at or after `from`. Throws PatternTooComplex.
  [[nodiscard]] std::optional<Match> find_in(std::string_view text, std::size_t from = 0) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// Returns whether `text` has the format that a schema names. Formats unknown to the server always
/// match; so do bsonobjectid, isbn, isbn10, isbn13, creditcard, ssn and rgbcolor here.
[[nodiscard]] bool has_format(std::string_view format, std::string_view text);

/// Returns whether the server validates this string format.
[[nodiscard]] bool is_known_format(std::string_view format);

}  // namespace kube::testkit::detail
