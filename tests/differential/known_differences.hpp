// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace kube::differential {

/// The differences that are meant, from a file: in each paragraph lines that begin with '#' say why, and each other
/// line, but for a "rare " at its beginning, is a regular expression (ECMAScript) that has to match a whole "LABEL | PLACE: REAL is OURS here".
class KnownDifferences {
 public:
  /// Throws kube::Error that names file and line.
  explicit KnownDifferences(const std::filesystem::path& file);

  /// Whether somebody knows of it.
  bool covers(const std::string& difference);
  /// What never came up, except what is rare.
  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  struct Entry {
    std::string pattern;
    std::regex expression;
    bool rare = false;
    std::size_t uses = 0;
  };
  std::vector<Entry> entries_;
};

}  // namespace kube::differential
