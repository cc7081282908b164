// SPDX-License-Identifier: Apache-2.0
#include "kube/api/validation.hpp"

#include <algorithm>

namespace kube::validation {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower_alnum(char c) { return is_lower(c) || is_digit(c); }
constexpr bool is_alnum(char c) { return is_lower_alnum(c) || is_upper(c); }

/// True for lower-case letters and digits with '-' inside. Does not check the length.
bool has_label_shape(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool has_subdomain_shape(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!has_label_shape(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// True for letters and digits of either case with '-', '_' and '.' inside.
bool has_name_shape(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string_view dns1123_label_problem(std::string_view text) noexcept {
  if (text.empty()) return "must not be empty";
  if (text.size() > kMaxLabelSize) return "must be no more than 63 bytes";
  if (has_label_shape(text)) return {};
  if (has_subdomain_shape(text)) return "must not contain dots";
  return "must have only lower-case letters, digits and '-', with a letter or digit at both ends";
}

std::string_view dns1123_subdomain_problem(std::string_view text) noexcept {
  if (text.empty()) return "must not be empty";
  if (text.size() > kMaxSubdomainSize) return "must be no more than 253 bytes";
  if (has_subdomain_shape(text)) return {};
  return "must have only lower-case letters, digits, '-' and '.', with a letter or digit at both "
         "ends and around each '.'";
}

std::string_view dns1035_label_problem(std::string_view text) noexcept {
  if (text.empty()) return "must not be empty";
  if (text.size() > kMaxLabelSize) return "must be no more than 63 bytes";
  if (has_label_shape(text) && is_lower(text.front())) return {};
  return "must have only lower-case letters, digits and '-', start with a letter and end with a "
         "letter or digit";
}

std::string_view qualified_name_problem(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    if (prefix.empty()) return "must have a prefix before the '/'";
    if (prefix.size() > kMaxSubdomainSize) return "must have a prefix of no more than 253 bytes";
    if (!has_subdomain_shape(prefix)) return "must have a DNS subdomain as its prefix";
    text.remove_prefix(slash + 1);
    if (text.find('/') != std::string_view::npos) return "must not contain more than one '/'";
  }
  if (text.empty()) return "must have a name part that is not empty";
  if (text.size() > kMaxLabelSize) return "must have a name part of no more than 63 bytes";
  if (has_name_shape(text)) return {};
  return "must have only letters, digits, '-', '_' and '.' in its name part, with a letter or "
         "digit at both ends";
}

std::string_view label_value_problem(std::string_view text) noexcept {
  if (text.size() > kMaxLabelSize) return "must be no more than 63 bytes";
  if (text.empty() || has_name_shape(text)) return {};
  return "must be empty or have only letters, digits, '-', '_' and '.', with a letter or digit at "
         "both ends";
}

}  // namespace kube::validation

namespace kube::detail {

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += kHex[byte / 16U];
      out += kHex[byte % 16U];
    }
  }
  out += text.size() > kShown ? "...\"" : "\"";
  return out;
}

}  // namespace kube::detail
