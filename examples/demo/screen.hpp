// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frame.hpp"
#include "view.hpp"

#include <mutex>

namespace demo {

/// Whether the standard output is a terminal that can be drawn on, and its owner wants that.
[[nodiscard]] bool can_draw();

/// The terminal behind the standard output, as long as the demo draws on it. What was on it before is there again
/// after leave(). Thread safety: all methods, from any thread.
class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { leave(); }

  [[nodiscard]] static Size size();
  /// Does nothing after leave(), nor if the frame is what is shown already.
  void show(const Frame& frame);
  /// Puts the terminal back as it was.
  void leave();

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  bool drawing_ = true;
  Frame shown_;
};

}  // namespace demo
