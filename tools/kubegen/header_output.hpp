// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "declarations.hpp"
#include "model.hpp"

#include <string>
#include <vector>

namespace kube::gen {

/// Returns one self-contained header with the given packages, which may be included in many
/// sources.
[[nodiscard]] std::string user_header(const std::vector<Package>& packages, const Banner& banner);

}  // namespace kube::gen
