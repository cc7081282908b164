// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// How names of an API become C++ names.
///
/// Whatever the input, the result is a valid identifier of ASCII letters, digits and single
/// underscores that no compiler reserves: this is one of the two gates between a document and
/// generated code (the other is text.hpp).
namespace kube::gen {

/// Longest identifier that is made from a name; what is beyond is cut off.
inline constexpr std::size_t kMaxIdentifier = 96;

/// The words of a name, as they are written: "podIPs" is pod, IPs; "x-kubernetes-list-type" has
/// four. Everything but ASCII letters and digits only separates.
[[nodiscard]] std::vector<std::string> split_words(std::string_view name);

/// For members and namespaces: "hostIPs" -> "host_ips". May be empty or begin with a digit.
[[nodiscard]] std::string snake_case(std::string_view name);
/// For types: "hostIPs" -> "HostIPs". May be empty or begin with a digit.
[[nodiscard]] std::string camel_case(std::string_view name);

/// A keyword, or a name that headers of C and C++ commonly define as a macro.
[[nodiscard]] bool is_reserved_word(std::string_view identifier);
/// Letters, digits and underscores, not beginning with a digit.
[[nodiscard]] bool is_identifier(std::string_view text);

/// A snake_case name that can be used as it is: keywords get an underscore, and a name that begins
/// with a digit or is empty gets `fallback` in front.
[[nodiscard]] std::string member_name(std::string_view name, std::string_view fallback = "field");
/// The same for a CamelCase type.
[[nodiscard]] std::string type_name(std::string_view name, std::string_view fallback = "Type");
/// A version such as "v1alpha1" as the name of a namespace.
[[nodiscard]] std::string version_name(std::string_view version);

/// The identifiers taken in one scope.
class Scope {
 public:
  Scope() = default;
  /// Some names that are taken from the start.
  explicit Scope(std::set<std::string, std::less<>> taken) : taken_(std::move(taken)) {}

  /// Takes `name`, or name_2, name_3, ... if it is not free. `separator` stands before the number.
  std::string add(std::string_view name, std::string_view separator = "_");
  [[nodiscard]] bool contains(std::string_view name) const { return taken_.contains(name); }

 private:
  std::set<std::string, std::less<>> taken_;
};

/// Readable names for the constants of a string type, without the leading k, one for each of
/// `names` (as declared in Go) and `values`: PodPending = "Pending" of PodPhase is "Pending". A
/// constant that repeats name and value of an earlier one gets an empty name.
[[nodiscard]] std::vector<std::string> constant_names(std::string_view type,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<std::string>& values);

}  // namespace kube::gen
