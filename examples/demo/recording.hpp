// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frame.hpp"
#include "view.hpp"

#include <kube/base/clock.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace demo {

/// Records frames over time as an animated SVG. Each line of text is written once, with the times
/// at which it is visible.
class Recording {
 public:
  explicit Recording(Size size) : size_(size), rows_(size.rows) {}

  /// Adds the frame that is shown from `time` on.
  void add(kube::Clock::Duration time, const Frame& frame);
  /// Returns the picture, which repeats after `end`.
  [[nodiscard]] std::string svg(kube::Clock::Duration end) const;

 private:
  struct Shown {
    double from = 0;
    Line line;
  };

  const Size size_;
  std::vector<std::vector<Shown>> rows_;
};

}  // namespace demo
