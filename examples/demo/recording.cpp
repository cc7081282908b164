// SPDX-License-Identifier: Apache-2.0
#include "recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace demo {
namespace {

constexpr double kColumnWidth = 7.8;
constexpr double kRowHeight = 17;
constexpr double kMargin = 12;
/// The frame for viewers that cannot animate, in percent of the time.
constexpr double kStill = 45;

std::string_view class_of(Style style) {
  switch (style) {
    case Style::kDim:
      return "d";
    case Style::kBold:
      return "b";
    case Style::kGood:
      return "g";
    case Style::kBad:
      return "y";
    case Style::kTitle:
      return "t";
    case Style::kPlain:
      break;
  }
  return "";
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
}

double seconds(kube::Clock::Duration time) { return std::chrono::duration<double>{time}.count(); }

}  // namespace

void Recording::add(kube::Clock::Duration time, const Frame& frame) {
  for (std::size_t i = 0; i < rows_.size() && i < frame.size(); ++i) {
    if (rows_[i].empty() || rows_[i].back().line != frame[i]) {
      rows_[i].push_back({seconds(time), frame[i]});
    }
  }
}

std::string Recording::svg(kube::Clock::Duration end) const {
  const double width = kColumnWidth * static_cast<double>(size_.columns) + 2 * kMargin;
  const double height = kRowHeight * static_cast<double>(size_.rows) + 2 * kMargin;
  const double total = seconds(end);
  std::string style;
  std::string body;
  int animations = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double y = kMargin + kRowHeight * (static_cast<double>(row) + 0.8);
    for (std::size_t i = 0; i < rows_[row].size(); ++i) {
      const Shown& shown = rows_[row][i];
      if (shown.line.width() == 0) continue;
      const double until = i + 1 < rows_[row].size() ? rows_[row][i + 1].from : total;
      const double from_part = 100 * shown.from / total;
      const double until_part = 100 * until / total;
      if (from_part <= 0.01 && until_part >= 99.99) {
        body += fmt::format("<text y=\"{:.1f}\">", y);
      } else {
        const int id = animations++;
        style += fmt::format("@keyframes k{}{{0%{{visibility:{}}}", id,
                             from_part <= 0.01 ? "visible" : "hidden");
        if (from_part > 0.01) style += fmt::format("{:.2f}%{{visibility:visible}}", from_part);
        style += fmt::format("{:.2f}%,to{{visibility:{}}}}}\n", std::min(until_part, 99.99),
                             until_part >= 99.99 ? "visible" : "hidden");
        const bool in_still = from_part <= kStill && kStill < until_part;
        body += fmt::format("<text y=\"{:.1f}\"{} style=\"animation-name:k{}\">", y,
                            in_still ? "" : " visibility=\"hidden\"", id);
      }
      std::size_t column = 0;
      for (const Span& span : shown.line.spans()) {
        const std::size_t blank = span.text.find_first_not_of(' ');
        if (blank != std::string::npos) {
          const double x = kMargin + kColumnWidth * static_cast<double>(column + blank);
          const std::string_view name = class_of(span.style);
          body += fmt::format("<tspan x=\"{:.1f}\"", x);
          if (!name.empty()) body += fmt::format(" class=\"{}\"", name);
          body += '>';
          const std::size_t last = span.text.find_last_not_of(' ');
          append_escaped(body, std::string_view{span.text}.substr(blank, last - blank + 1));
          body += "</tspan>";
        }
        column += span.text.size();
      }
      body += "</text>\n";
    }
  }
  return fmt::format(
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\">\n"
      "<title>The demo of kubecxx: a controller keeps up with what happens to its objects</title>\n"
      "<style>\n"
      "text{{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d4d7dd;"
      "white-space:pre;animation:{2:.1f}s step-end infinite}}\n"
      ".d{{fill:#8b93a1}}.b{{font-weight:bold;fill:#fff}}.g{{fill:#7ec699}}.y{{fill:#e5c07b}}"
      ".t{{font-weight:bold;fill:#61afef}}\n"
      "{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e2127\"/>\n"
      "{4}</svg>\n",
      width, height, total, style, body);
}

}  // namespace demo
