// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::testkit::cel {

namespace {

constexpr std::size_t kMostIssues = 100;
constexpr std::size_t kLongestSnippet = 16384;

/// Returns the number of bytes of the code point at `at`, at least one.
std::size_t width(std::string_view text, std::size_t at, bool& valid) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  valid = true;
  if (first < 0x80) return 1;
  const std::size_t wanted = first >= 0xf0 && first <= 0xf4  ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  valid = wanted != 0 && at + wanted <= text.size();
  for (std::size_t i = 1; valid && i < wanted; ++i) valid = (byte(at + i) & 0xc0) == 0x80;
  if (valid && wanted > 2) {
    const unsigned char second = byte(at + 1);
    valid = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second >= 0xa0) &&
            !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90);
  }
  return valid ? wanted : 1;
}

}  // namespace

std::vector<std::uint32_t> code_point_starts(std::string_view text) {
  std::vector<std::uint32_t> starts;
  starts.reserve(text.size() + 1);
  bool valid = true;
  for (std::size_t at = 0; at < text.size(); at += width(text, at, valid)) {
    starts.push_back(static_cast<std::uint32_t>(at));
  }
  starts.push_back(static_cast<std::uint32_t>(text.size()));
  return starts;
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  bool valid = true;
  for (std::size_t at = 0; at < text.size(); at += width(text, at, valid)) ++count;
  return count;
}

bool is_utf8(std::string_view text) {
  bool valid = true;
  for (std::size_t at = 0; at < text.size() && valid;) at += width(text, at, valid);
  return valid;
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | (c >> 6));
    add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | (c >> 12));
    add(0x80 | ((c >> 6) & 0x3f));
    add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | (c >> 18));
    add(0x80 | ((c >> 12) & 0x3f));
    add(0x80 | ((c >> 6) & 0x3f));
    add(0x80 | (c & 0x3f));
  }
}

std::string show_issues(std::string_view source, std::vector<Issue> issues) {
  std::ranges::stable_sort(issues, {}, &Issue::offset);
  const std::size_t all = issues.size();
  if (all > kMostIssues) issues.resize(kMostIssues);
  const std::vector<std::uint32_t> starts = code_point_starts(source);
  std::string shown;
  for (const Issue& issue : issues) {
    if (!shown.empty()) shown += '\n';
    if (issue.offset == kNowhere) {
      shown += "ERROR: <input>:-1:0: " + issue.message;
      continue;
    }
    const std::size_t at = std::min<std::size_t>(issue.offset, starts.size() - 1);
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (source[starts[i]] != '\n') continue;
      ++line;
      line_start = i + 1;
    }
    const std::size_t begin = starts[line_start];
    const std::string_view snippet = source.substr(begin, source.find('\n', begin) - begin);
    shown += fmt::format("ERROR: <input>:{}:{}: {}", line, at - line_start + 1, issue.message);
    if (snippet.size() > kLongestSnippet) continue;
    std::string flat{snippet};
    std::ranges::replace(flat, '\t', ' ');
    shown += "\n | " + flat + "\n | ";
    // Wide characters are underlined with wide dots.
    for (std::size_t i = line_start; i < at; ++i) {
      shown += starts[i + 1] - starts[i] > 1 ? "．" : ".";
    }
    const bool wide = at + 1 < starts.size() && starts[at + 1] - starts[at] > 1;
    shown += wide ? "＾" : "^";
  }
  if (all > kMostIssues) shown += fmt::format("\n{} more errors were truncated", all - kMostIssues);
  return shown;
}

}  // namespace kube::testkit::cel
