// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"

namespace kube::testing_support {

std::string source_path(const std::string& name) {
  return std::string{KUBECXX_SOURCE_DIR} + '/' + name;
}

}  // namespace kube::testing_support
