// SPDX-License-Identifier: Apache-2.0
#include "packages.hpp"

#include "text.hpp"

#include <fmt/format.h>

namespace kube::gen {

OpenPackage& PackageSet::open(std::string_view group, std::string_view version) {
  const std::string root =
      root_.empty() ? member_name(group.substr(0, group.find('.')), "api") : root_;
  const std::string name = fmt::format("{}::{}", root, version_name(version));
  const auto [at, is_new] = index_.emplace(name, packages_.size());
  if (is_new) {
    packages_.push_back(std::make_unique<OpenPackage>());
    Package& package = packages_.back()->package;
    package.cpp_namespace = name;
    package.group = group;
    package.version = version;
  }
  return *packages_[at->second];
}

std::vector<Package> PackageSet::finish() {
  std::vector<Package> result;
  for (const auto& open : packages_) result.push_back(std::move(open->package));
  packages_.clear();
  index_.clear();
  mark_volatile(result);
  for (Package& package : result) sort_structs(package);
  return result;
}

std::string namespace_problem(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t number = 0;; ++number) {
    const std::size_t end = text.find("::", begin);
    const std::string_view part =
        text.substr(begin, end == std::string_view::npos ? end : end - begin);
    // Generated code uses kube::, which must not resolve to another namespace of that name.
    const bool is_kube_first = part == "kube" && number == 0;
    const bool is_bad = !is_identifier(part) || part.starts_with('_') ||
                        part.find("__") != std::string_view::npos ||
                        (is_reserved_word(part) && !is_kube_first);
    if (is_bad) return fmt::format("\"{}\" cannot name a namespace", printable(part));
    if (end == std::string_view::npos) return {};
    begin = end + 2;
  }
}

}  // namespace kube::gen
