// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kube::testing_support {

/// Returns the path of a file or folder of the sources, given relative to their root. It is a
/// function and not a compile definition, so that object files do not depend on the location of the
/// sources and a compiler cache can share them.
[[nodiscard]] std::string source_path(const std::string& name);

}  // namespace kube::testing_support
