// SPDX-License-Identifier: Apache-2.0
#include "known_differences.hpp"

#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <fstream>

namespace kube::differential {

KnownDifferences::KnownDifferences(const std::filesystem::path& file) {
  std::ifstream in{file};
  if (!in) throw Error(fmt::format("{}: cannot be read", file.string()));
  std::string line;
  bool has_reason = false;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) {
      has_reason = false;
    } else if (line.starts_with('#')) {
      has_reason = true;
    } else if (!has_reason) {
      throw Error(fmt::format("{}:{}: a difference without a reason", file.string(), number));
    } else {
      try {
        const bool rare = line.starts_with("rare ");
        if (rare) line.erase(0, 5);
        entries_.push_back({line, std::regex{line, std::regex::optimize}, rare});
      } catch (const std::regex_error& error) {
        throw Error(fmt::format("{}:{}: {}", file.string(), number, error.what()));
      }
    }
  }
}

bool KnownDifferences::covers(const std::string& difference) {
  for (Entry& entry : entries_) {
    if (!std::regex_match(difference, entry.expression)) continue;
    ++entry.uses;
    return true;
  }
  return false;
}

std::vector<std::string> KnownDifferences::unused() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (entry.uses == 0 && !entry.rare) result.push_back(entry.pattern);
  }
  return result;
}

}  // namespace kube::differential
