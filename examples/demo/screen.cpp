// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

namespace demo {
namespace {

// Alternate screen, no cursor, cleared.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[2J";
constexpr std::string_view kLeave = "\033[0m\033[?25h\033[?1049l";

std::string_view code_of(Style style) {
  switch (style) {
    case Style::kDim:
      return "\033[2m";
    case Style::kBold:
      return "\033[1m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[33m";
    case Style::kTitle:
      return "\033[7m";
    case Style::kPlain:
      break;
  }
  return "";
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal is closed
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

}  // namespace

bool can_draw() {
  const std::string_view terminal = environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !terminal.empty() && terminal != "dumb" &&
         environment("NO_COLOR").empty();
}

Screen::Screen() { write_all(kEnter); }

Size Screen::size() {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 20) return {};
  return {window.ws_col, window.ws_row};
}

void Screen::show(const Frame& frame) {
  const std::lock_guard guard{mutex_};
  if (!drawing_ || frame == shown_) return;
  std::string out = "\033[H";
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (i > 0) out += "\r\n";
    for (const Span& span : frame[i].spans()) {
      out.append(code_of(span.style)).append(span.text);
      if (span.style != Style::kPlain) out += "\033[0m";
    }
    out += "\033[K";
  }
  out += "\033[J";
  write_all(out);
  shown_ = frame;
}

void Screen::leave() {
  const std::lock_guard guard{mutex_};
  if (!drawing_) return;
  drawing_ = false;
  write_all(kLeave);
}

}  // namespace demo
