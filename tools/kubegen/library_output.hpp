// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "library_schema.hpp"
#include "output.hpp"

#include <vector>

namespace kube::gen {

/// Returns the headers and sources of the built-in API, with paths relative to the output folder: a
/// pair for each group version, `all.hpp`, the chain of functions, and the registry of all kinds.
[[nodiscard]] std::vector<OutputFile> library_files(const Library& library, const Banner& banner);

}  // namespace kube::gen
