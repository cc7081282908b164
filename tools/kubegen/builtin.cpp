// SPDX-License-Identifier: Apache-2.0
#include "builtin.hpp"

#include "library_schema.hpp"
#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kube::gen {
namespace {

/// Types with their own encoding, by the name of their definition.
constexpr std::array kLeaves = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"io.k8s.apimachinery.pkg.api.resource.Quantity", "Quantity"},
    {"io.k8s.apimachinery.pkg.apis.meta.v1.Duration", "Duration"},
    {"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "FieldsV1"},
    {"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "MicroTime"},
    {"io.k8s.apimachinery.pkg.apis.meta.v1.Time", "Time"},
    {"io.k8s.apimachinery.pkg.runtime.RawExtension", "RawExtension"},
    {"io.k8s.apimachinery.pkg.util.intstr.IntOrString", "IntOrString"},
    {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "Json"},
    {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1.JSON", "Json"},
});

/// Prefixes of <group>.<version>.<type> in the modules of the schema.
constexpr std::array kPrefixes = std::to_array<std::string_view>({
    "io.k8s.api.",
    "io.k8s.apimachinery.pkg.apis.",
    "io.k8s.apiextensions-apiserver.pkg.apis.",
    "io.k8s.kube-aggregator.pkg.apis.",
});

}  // namespace

std::optional<Builtin> find_builtin(std::string_view definition) {
  const auto* leaf = std::ranges::find(kLeaves, definition, &decltype(kLeaves)::value_type::first);
  if (leaf != kLeaves.end()) return Builtin{Shape::plain(leaf->second), "kube/api/leaf.hpp"};
  for (const std::string_view prefix : kPrefixes) {
    if (!definition.starts_with(prefix)) continue;
    const std::string_view rest = definition.substr(prefix.size());
    const std::size_t first = rest.find('.');
    const std::size_t last = rest.rfind('.');
    if (first == last || first == std::string_view::npos) continue;
    const std::string_view group = rest.substr(0, first);
    const std::string_view version = rest.substr(first + 1, last - first - 1);
    const std::string_view name = rest.substr(last + 1);
    // Each part is inserted into code unchanged.
    const auto is_word = [](std::string_view word) {
      return is_identifier(word) && word.find('_') == std::string_view::npos &&
             !is_reserved_word(word);
    };
    if (!is_word(group) || !is_word(version) || !is_word(name)) continue;
    return Builtin{Shape::structure(library_type_name(name), fmt::format("{}::{}", group, version)),
                   fmt::format("kube/api/{}/{}.hpp", group, version)};
  }
  return {};
}

}  // namespace kube::gen
