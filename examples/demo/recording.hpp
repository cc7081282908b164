// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frame.hpp"
#include "view.hpp"

#include <kube/base/clock.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace demo {

/// Frames over time, as a moving picture in SVG. Each line of text is written once, with the times at which it is
/// to be seen.
class Recording {
 public:
  explicit Recording(Size size) : size_(size), rows_(size.rows) {}

  /// What is shown from `time` on.
  void add(kube::Clock::Duration time, const Frame& frame);
  /// The picture, which begins again after `end`.
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
