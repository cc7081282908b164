// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Syntax rules of names, label keys and label values.
///
/// Each rule has a function `..._problem`, which returns an empty view if the text is valid, and
/// otherwise the rest of a sentence about the text ("must be ..."). The results have static storage
/// and nothing is allocated, so the checks are suitable for hot paths. Lengths are in bytes. Only
/// ASCII is valid, in any locale.
///
/// Thread safety: pure functions.
namespace kube::validation {

/// Maximum size of a DNS label, a label value, and the name part of a label key.
inline constexpr std::size_t kMaxLabelSize = 63;
/// Maximum size of a DNS subdomain, and of the prefix of a label key.
inline constexpr std::size_t kMaxSubdomainSize = 253;

/// RFC 1123 label: lower-case letters, digits and inner '-', at most 63 bytes.
[[nodiscard]] std::string_view dns1123_label_problem(std::string_view text) noexcept;

/// RFC 1123 subdomain: labels joined by '.', at most 253 bytes in total. A single label may be
/// longer than 63 bytes; Kubernetes only limits the total.
[[nodiscard]] std::string_view dns1123_subdomain_problem(std::string_view text) noexcept;

/// RFC 1035 label: like the RFC 1123 label, but it starts with a letter. Used for services.
[[nodiscard]] std::string_view dns1035_label_problem(std::string_view text) noexcept;

/// Qualified name, the form of label and annotation keys: an optional DNS subdomain and '/', then a
/// name of letters, digits, '-', '_' and '.' that starts and ends with a letter or digit.
[[nodiscard]] std::string_view qualified_name_problem(std::string_view text) noexcept;

/// Label value: empty, or like the name part of a qualified name.
[[nodiscard]] std::string_view label_value_problem(std::string_view text) noexcept;

/// This and the predicates below are true if the corresponding `..._problem` function finds none.
[[nodiscard]] inline bool is_dns1123_label(std::string_view text) noexcept {
  return dns1123_label_problem(text).empty();
}
[[nodiscard]] inline bool is_dns1123_subdomain(std::string_view text) noexcept {
  return dns1123_subdomain_problem(text).empty();
}
[[nodiscard]] inline bool is_dns1035_label(std::string_view text) noexcept {
  return dns1035_label_problem(text).empty();
}
[[nodiscard]] inline bool is_qualified_name(std::string_view text) noexcept {
  return qualified_name_problem(text).empty();
}
[[nodiscard]] inline bool is_label_value(std::string_view text) noexcept {
  return label_value_problem(text).empty();
}

}  // namespace kube::validation

namespace kube::detail {

/// Formats `text` for an error message: in double quotes, with bytes that are not printable ASCII
/// as \xNN, and cut with "..." after 80 bytes, so that a hostile text can neither flood nor garble
/// a log.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace kube::detail
