// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "model.hpp"

#include <string>

namespace kube::gen {

/// The constant tables behind the structs of a package, and the definitions that refer to them.
struct Tables {
  std::string constants;    ///< arrays of fields, protobuf numbers, verbs
  std::string definitions;  ///< kube_type and kube_resource of each struct
};

/// Inside, the arrays are for an unnamed namespace of a source; outside, everything is inline, for
/// a header, and the definitions find the arrays in a namespace `tables`.
[[nodiscard]] Tables tables(const Package& package, Site site);

}  // namespace kube::gen
