// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// The API of a Kubernetes release, ready to be printed.
struct Library {
  std::string kubernetes;  ///< "1.36.4"
  std::vector<Package> packages;
};

/// Reads a file of `schema/` (its README.md describes the format). Throws InputError.
[[nodiscard]] Library read_library(const Place& schema);

/// Returns the C++ name of a built-in type: its own name, with an underscore if namespace kube has
/// a handle of that name (List).
[[nodiscard]] std::string library_type_name(std::string_view name);

}  // namespace kube::gen
