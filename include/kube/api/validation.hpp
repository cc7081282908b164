// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// The spelling rules of names, label keys and label values.
///
/// Each rule has one function, `..._problem`, that answers with an empty view when the text is fine
/// and otherwise with a sentence part that can follow the name of the thing ("must be ..."). The
/// answers have static storage and nothing allocates, so the checks may stand on a hot path.
/// Lengths are counted in bytes. Only ASCII passes; the locale plays no part.
///
/// Thread safety: pure functions.
namespace kube::validation {

/// Longest DNS label, label value, and name part of a label key.
inline constexpr std::size_t kMaxLabelSize = 63;
/// Longest DNS subdomain, and prefix of a label key.
inline constexpr std::size_t kMaxSubdomainSize = 253;

/// RFC 1123 label: lower-case letters, digits and inner '-', at most 63 bytes.
[[nodiscard]] std::string_view dns1123_label_problem(std::string_view text) noexcept;

/// RFC 1123 subdomain: labels joined by '.', at most 253 bytes in all. A single label in it may be
/// longer than 63 bytes; Kubernetes limits only the whole.
[[nodiscard]] std::string_view dns1123_subdomain_problem(std::string_view text) noexcept;

/// RFC 1035 label: like the RFC 1123 label, but it starts with a letter. Services use it.
[[nodiscard]] std::string_view dns1035_label_problem(std::string_view text) noexcept;

/// Qualified name, the form of label and annotation keys: an optional DNS subdomain and '/', then a
/// name of letters, digits, '-', '_' and '.' that starts and ends with a letter or digit.
[[nodiscard]] std::string_view qualified_name_problem(std::string_view text) noexcept;

/// Label value: empty, or like the name part of a qualified name.
[[nodiscard]] std::string_view label_value_problem(std::string_view text) noexcept;

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

/// `text` as it may stand in an error message: in double quotes, with bytes that are not printable
/// ASCII written as \xNN, and cut with "..." after 80 bytes, so that a hostile text can neither
/// flood nor garble a log.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace kube::detail
