// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model.hpp"
#include "names.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// A package under construction, with the names that are taken in it.
struct OpenPackage {
  Package package;
  Scope types;
  Scope constants{{"tables"}};  // the namespace of the tables in a generated header
};

/// The packages of one generated header, by C++ namespace.
class PackageSet {
 public:
  /// All packages are below `cpp_namespace`; if it is empty, each is below a namespace named after
  /// its group.
  explicit PackageSet(std::string_view cpp_namespace) : root_(cpp_namespace) {}

  /// Returns the package of a version of a group, created on first use.
  OpenPackage& open(std::string_view group, std::string_view version);

  /// Returns the finished packages: structs in order of use, times marked.
  [[nodiscard]] std::vector<Package> finish();

 private:
  std::string root_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::unique_ptr<OpenPackage>> packages_;
};

/// Returns the reason why `text` cannot be the namespace of generated code; empty if it can.
[[nodiscard]] std::string namespace_problem(std::string_view text);

}  // namespace kube::gen
