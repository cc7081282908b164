// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "library_schema.hpp"
#include "output.hpp"

namespace kube::gen {

/// The header that spells `client.apps().v1().deployments("shop")` for every resource. It needs no other
/// header of the API: types are only named, so it stays cheap to include.
[[nodiscard]] OutputFile chain_header(const Library& library, const Banner& banner);

}  // namespace kube::gen
