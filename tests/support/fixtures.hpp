// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/paths.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace kube::test {

/// Returns the content of a file that was recorded from an API server.
inline std::string fixture(const std::string& name) {
  std::ifstream file{testing_support::source_path("tests/fixtures/v1.36.4/" + name),
                     std::ios::binary};
  if (!file) throw std::runtime_error("no fixture " + name);
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace kube::test
