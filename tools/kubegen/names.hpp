// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Converts names of an API to C++ names.
///
/// For any input, the result is a valid identifier of ASCII letters, digits and single underscores
/// that is not reserved. Untrusted documents reach generated code only through these functions and
/// those of text.hpp.
namespace kube::gen {

/// Maximum length of an identifier made from a name; longer names are cut.
inline constexpr std::size_t kMaxIdentifier = 96;

/// Splits a name into words, without changing them: "podIPs" is pod, IPs; "x-kubernetes-list-type"
/// has four. All other characters than ASCII letters and digits are separators.
[[nodiscard]] std::vector<std::string> split_words(std::string_view name);

/// For members and namespaces: "hostIPs" -> "host_ips". The result may be empty or start with a
/// digit.
[[nodiscard]] std::string snake_case(std::string_view name);
/// For types: "hostIPs" -> "HostIPs". The result may be empty or start with a digit.
[[nodiscard]] std::string camel_case(std::string_view name);

/// True for a keyword, or a name that headers of C and C++ commonly define as a macro.
[[nodiscard]] bool is_reserved_word(std::string_view identifier);
/// True for letters, digits and underscores that do not start with a digit.
[[nodiscard]] bool is_identifier(std::string_view text);

/// Returns a usable snake_case name: keywords get an underscore, and a name that is empty or starts
/// with a digit is prefixed with `fallback`.
[[nodiscard]] std::string member_name(std::string_view name, std::string_view fallback = "field");
/// As above, for a CamelCase type.
[[nodiscard]] std::string type_name(std::string_view name, std::string_view fallback = "Type");
/// Returns the name of a namespace for a version such as "v1alpha1".
[[nodiscard]] std::string version_name(std::string_view version);

/// The identifiers that are taken in one scope.
class Scope {
 public:
  Scope() = default;
  /// Starts with some names taken.
  explicit Scope(std::set<std::string, std::less<>> taken) : taken_(std::move(taken)) {}

  /// Takes `name`, or name_2, name_3, ... if it is taken already. `separator` precedes the number.
  std::string add(std::string_view name, std::string_view separator = "_");
  [[nodiscard]] bool contains(std::string_view name) const { return taken_.contains(name); }

 private:
  std::set<std::string, std::less<>> taken_;
};

/// Returns readable names for the constants of a string type, without the leading k, one for each
/// of `names` (as declared in Go) and `values`: PodPending = "Pending" of PodPhase is "Pending". A
/// constant that repeats the name and value of an earlier one gets an empty name.
[[nodiscard]] std::vector<std::string> constant_names(std::string_view type,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<std::string>& values);

}  // namespace kube::gen
