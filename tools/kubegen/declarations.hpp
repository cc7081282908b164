// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model.hpp"

#include <set>
#include <string>
#include <string_view>

/// Prints the declarations of a package: constants, structs, names of lists.
namespace kube::gen {

/// Where the generated code stands, which decides how it spells the names of namespace kube.
enum class Site : std::uint8_t {
  kInside,   ///< in a namespace within kube: "String"
  kOutside,  ///< in a namespace of the user: "kube::String"
};

/// "kube::" outside, nothing inside.
[[nodiscard]] std::string_view qualifier(Site site);
/// The C++ spelling of a type.
[[nodiscard]] std::string spell(const Shape& shape, Site site);

/// What opens a generated file: the license, if it is ours to give, and what made it from what.
struct Banner {
  std::string version;  ///< of the generator
  std::string source;   ///< raw text
  bool is_licensed = false;
};
[[nodiscard]] std::string to_string(const Banner& banner);

/// Headers that the declarations of a package need, without those of other packages.
struct Includes {
  std::set<std::string> own;       ///< of this project
  std::set<std::string> standard;  ///< of C++
};
void collect_includes(const Package& package, Includes& includes);
/// The block of #include lines.
[[nodiscard]] std::string to_string(const Includes& includes);

/// Everything between the braces of the namespace of a package, in order of use.
[[nodiscard]] std::string declarations(const Package& package, Site site);

}  // namespace kube::gen
