// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frame.hpp"
#include "journal.hpp"
#include "pipeline.hpp"

#include <cstddef>
#include <string>

namespace demo {

struct Size {
  std::size_t columns = 100;
  std::size_t rows = 32;
};

/// Draws the whole screen, of exactly `size`. `where` describes the cluster.
[[nodiscard]] Frame draw(Pipeline& pipeline, const Journal& journal, const std::string& where,
                         Size size);

}  // namespace demo
