// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frame.hpp"
#include "view.hpp"

#include <mutex>

namespace demo {

/// Returns whether standard output is a terminal that supports drawing and drawing is not disabled.
[[nodiscard]] bool can_draw();

/// Draws on the terminal of standard output. leave() restores its previous content.
/// Thread safety: all methods, from any thread.
class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { leave(); }

  [[nodiscard]] static Size size();
  /// Draws the frame. Does nothing after leave() or if the frame is unchanged.
  void show(const Frame& frame);
  /// Restores the terminal.
  void leave();

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  bool drawing_ = true;
  Frame shown_;
};

}  // namespace demo
