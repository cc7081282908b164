// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "library_schema.hpp"
#include "output.hpp"

namespace kube::gen {

/// Returns the header that provides `client.apps().v1().deployments("shop")` for every resource. It
/// only declares the types, so it includes no other header of the API and is cheap to include.
[[nodiscard]] OutputFile chain_header(const Library& library, const Banner& banner);

}  // namespace kube::gen
