// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// A search took too many steps.
struct PatternTooComplex {};

/// A regular expression of a schema. Searches like Go does: anywhere in the text, `^` and `$` being the ends of
/// the whole text. Neither deep recursion nor exponential time: a search that takes too many steps fails.
class Pattern {
 public:
  /// Throws std::invalid_argument that says what is wrong.
  explicit Pattern(std::string_view expression);
  [[nodiscard]] bool found_in(std::string_view text) const;

  struct Match {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  /// The first match that begins at `from` or later. Throws PatternTooComplex.
  [[nodiscard]] std::optional<Match> find_in(std::string_view text, std::size_t from = 0) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// Whether `text` has the format that a schema names. Formats that the server does not know hold always; so do
/// bsonobjectid, isbn, isbn10, isbn13, creditcard, ssn and rgbcolor here.
[[nodiscard]] bool has_format(std::string_view format, std::string_view text);

/// Whether the server looks at this format of texts at all.
[[nodiscard]] bool is_known_format(std::string_view format);

}  // namespace kube::testkit::detail
