// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kube::testing_support {

/// A file or folder of the sources, named from their root. A function and no definition for the compiler, so that what
/// is compiled from a test does not depend on where the sources are, and a compiler cache can share it.
[[nodiscard]] std::string source_path(const std::string& name);

}  // namespace kube::testing_support
