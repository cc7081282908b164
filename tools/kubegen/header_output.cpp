// SPDX-License-Identifier: Apache-2.0
#include "header_output.hpp"

#include "tables.hpp"

#include <fmt/format.h>

namespace kube::gen {

std::string user_header(const std::vector<Package>& packages, const Banner& banner) {
  Includes includes;
  includes.standard.insert({"cstddef", "string_view"});
  for (const Package& package : packages) collect_includes(package, includes);
  std::string text = fmt::format("{}#pragma once\n\n{}", to_string(banner), to_string(includes));
  for (const Package& package : packages) {
    const Tables parts = tables(package, Site::kOutside);
    text += fmt::format(
        "\nnamespace {0} {{\n\n{1}"
        "namespace tables {{\n{2}}}  // namespace tables\n\n"
        "{3}}}  // namespace {0}\n",
        package.cpp_namespace, declarations(package, Site::kOutside), parts.constants,
        parts.definitions);
  }
  return text;
}

}  // namespace kube::gen
