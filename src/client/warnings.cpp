// SPDX-License-Identifier: Apache-2.0
#include <kube/client/warnings.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace kube {

namespace {

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// Takes a quoted string from the beginning of `text`.
std::optional<std::string> take_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string result;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return result;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return std::nullopt;
}

std::optional<Warning> take_warning(std::string_view& text) {
  Warning warning;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), warning.code);
  if (error != std::errc{} || end != text.data() + 3) return std::nullopt;
  text.remove_prefix(3);
  if (!text.starts_with(' ')) return std::nullopt;
  skip_spaces(text);
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  warning.agent = text.substr(0, space);
  text.remove_prefix(space);
  skip_spaces(text);
  std::optional<std::string> words = take_quoted(text);
  if (!words) return std::nullopt;
  warning.text = std::move(*words);
  skip_spaces(text);
  if (text.starts_with('"') && !take_quoted(text)) return std::nullopt;  // the date
  skip_spaces(text);
  return warning;
}

}  // namespace

std::vector<Warning> parse_warnings(std::string_view header) {
  std::vector<Warning> warnings;
  skip_spaces(header);
  while (!header.empty()) {
    std::optional<Warning> warning = take_warning(header);
    if (!warning || !(header.empty() || header.starts_with(','))) break;
    warnings.push_back(std::move(*warning));
    if (!header.empty()) header.remove_prefix(1);
    skip_spaces(header);
  }
  return warnings;
}

void WarningWriter::operator()(const Warning& warning) {
  {
    const std::lock_guard guard{mutex_};
    // Bounds the memory: texts beyond the limit are not deduplicated.
    constexpr std::size_t kMostRemembered = 10'000;
    if (deduplicate_ && seen_.contains(warning.text)) return;
    if (deduplicate_ && seen_.size() < kMostRemembered) seen_.insert(warning.text);
    ++count_;
  }
  sink_(warning.text);
}

std::size_t WarningWriter::count() const {
  const std::lock_guard guard{mutex_};
  return count_;
}

}  // namespace kube
