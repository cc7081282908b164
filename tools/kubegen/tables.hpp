// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "model.hpp"

#include <string>

namespace kube::gen {

/// The constant tables of the structs of a package, and the definitions that refer to them.
struct Tables {
  std::string constants;    ///< arrays of fields, protobuf numbers, verbs
  std::string definitions;  ///< kube_type and kube_resource of each struct
};

/// For kInside, the arrays belong in an unnamed namespace of a source. For kOutside, everything is
/// inline, for a header, and the definitions refer to the arrays in a namespace `tables`.
[[nodiscard]] Tables tables(const Package& package, Site site);

}  // namespace kube::gen
