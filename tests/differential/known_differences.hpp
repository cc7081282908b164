// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace kube::differential {

/// The accepted differences, from a file. In each paragraph, lines that begin with '#' give the
/// reason, and each other line, after an optional "rare ", is a regular expression (ECMAScript)
/// that has to match a whole "LABEL | PLACE: REAL is OURS here".
class KnownDifferences {
 public:
  /// Throws kube::Error that names file and line.
  explicit KnownDifferences(const std::filesystem::path& file);

  /// Returns whether the difference is in the file, and marks the entry as used.
  bool covers(const std::string& difference);
  /// Returns the entries that never matched, except rare ones.
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
