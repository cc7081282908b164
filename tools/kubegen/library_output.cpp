// SPDX-License-Identifier: Apache-2.0
#include "library_output.hpp"

#include "chain_output.hpp"
#include "tables.hpp"

#include <fmt/format.h>

#include <set>

namespace kube::gen {
namespace {

std::string header_name(const Package& package) {
  return fmt::format("kube/api/{}/{}.hpp", package.name, package.version);
}

/// Explicit instantiations of all lists, or their declarations: the descriptor of a list contains
/// kind and version, which are only constant expressions where the descriptors of its elements are
/// defined.
std::string list_instantiations(const Package& package, std::string_view prefix) {
  std::string text;
  for (const Struct& item : package.structs) {
    if (!item.resource || item.resource->list_name.empty()) continue;
    text += fmt::format("{}template struct kube::ListOf<kube::{}::{}>;\n", prefix,
                        package.cpp_namespace, item.name);
  }
  return text.empty() ? text : '\n' + text;
}

OutputFile header(const Package& package, const Banner& banner) {
  Includes includes;
  collect_includes(package, includes);
  return {
      "include/" + header_name(package),
      fmt::format("{0}#pragma once\n\n{1}\n"
                  "namespace kube::{2} {{\n\n{3}}}  // namespace kube::{2}\n{4}",
                  to_string(banner), to_string(includes), package.cpp_namespace,
                  declarations(package, Site::kInside), list_instantiations(package, "extern "))};
}

OutputFile source(const Package& package, const Banner& banner) {
  const Tables parts = tables(package, Site::kInside);
  return {fmt::format("src/{}_{}.cpp", package.name, package.version),
          fmt::format("{0}#include <{1}>\n\n#include <cstddef>\n\n"
                      "namespace kube::{2} {{\n"
                      "namespace {{\n\n{3}\n}}  // namespace\n\n{4}}}  // namespace kube::{2}\n{5}",
                      to_string(banner), header_name(package), package.cpp_namespace,
                      parts.constants, parts.definitions, list_instantiations(package, ""))};
}

OutputFile all_header(const Library& library, const Banner& banner) {
  Includes includes;
  for (const Package& package : library.packages) includes.own.insert(header_name(package));
  includes.own.insert("kube/api/registry.hpp");
  return {"include/kube/api/all.hpp",
          fmt::format("{}#pragma once\n\n{}", to_string(banner), to_string(includes))};
}

OutputFile registry_header(const Banner& banner) {
  return {"include/kube/api/registry.hpp", to_string(banner) + R"(#pragma once

#include <kube/api/resource_info.hpp>
#include <kube/object/type.hpp>

#include <span>

namespace kube {

/// A kind of the built-in API.
struct ApiKind {
  const Type* type = nullptr;
  const ResourceInfo* resource = nullptr;  ///< null if it is not a resource of its own
};

/// All built-in kinds, group by group.
[[nodiscard]] std::span<const ApiKind> api_kinds() noexcept;

}  // namespace kube
)"};
}

OutputFile registry_source(const Library& library, const Banner& banner) {
  Includes includes;
  std::string entries;
  for (const Package& package : library.packages) {
    for (const Struct& item : package.structs) {
      if (!item.has_type_meta) continue;
      includes.own.insert(header_name(package));
      const std::string name = fmt::format("{}::{}", package.cpp_namespace, item.name);
      const std::string entry =
          fmt::format("    {{&{0}::kube_type, &{0}::kube_resource}},\n", name);
      if (!item.resource) {
        entries += fmt::format("    {{&{}::kube_type, nullptr}},\n", name);
      } else if (entry.size() <= 101) {
        entries += entry;
      } else {
        entries += fmt::format("    {{&{0}::kube_type,\n     &{0}::kube_resource}},\n", name);
      }
    }
  }
  return {"src/registry.cpp",
          fmt::format("{}#include <kube/api/registry.hpp>\n\n{}\n"
                      "namespace kube {{\n"
                      "namespace {{\n\n"
                      "constinit const ApiKind kApiKinds[] = {{\n{}}};\n\n"
                      "}}  // namespace\n\n"
                      "std::span<const ApiKind> api_kinds() noexcept {{ return kApiKinds; }}\n\n"
                      "}}  // namespace kube\n",
                      to_string(banner), to_string(includes), entries)};
}

}  // namespace

std::vector<OutputFile> library_files(const Library& library, const Banner& banner) {
  std::vector<OutputFile> files;
  for (const Package& package : library.packages) {
    files.push_back(header(package, banner));
    files.push_back(source(package, banner));
  }
  files.push_back(all_header(library, banner));
  files.push_back(chain_header(library, banner));
  files.push_back(registry_header(banner));
  files.push_back(registry_source(library, banner));
  return files;
}

}  // namespace kube::gen
