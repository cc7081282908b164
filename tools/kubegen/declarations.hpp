// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model.hpp"

#include <set>
#include <string>
#include <string_view>

/// Prints the declarations of a package: constants, structs, aliases of lists.
namespace kube::gen {

/// The location of the generated code, which determines how it qualifies names of namespace kube.
enum class Site : std::uint8_t {
  kInside,   ///< in a namespace within kube: "String"
  kOutside,  ///< in a user's namespace: "kube::String"
};

/// Returns "kube::" for kOutside, else an empty text.
[[nodiscard]] std::string_view qualifier(Site site);
/// Returns the C++ spelling of a type.
[[nodiscard]] std::string spell(const Shape& shape, Site site);

/// The first lines of a generated file: the license, if it is ours, the generator and the source.
struct Banner {
  std::string version;  ///< version of the generator
  std::string source;   ///< raw text
  bool is_licensed = false;
};
[[nodiscard]] std::string to_string(const Banner& banner);

/// The headers that the declarations of a package need, without those of other packages.
struct Includes {
  std::set<std::string> own;       ///< headers of this project
  std::set<std::string> standard;  ///< headers of the standard library
};
void collect_includes(const Package& package, Includes& includes);
/// Returns the block of #include lines.
[[nodiscard]] std::string to_string(const Includes& includes);

/// Returns the content of the namespace of a package, in order of use.
[[nodiscard]] std::string declarations(const Package& package, Site site);

}  // namespace kube::gen
