// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/meter.hpp"
#include "testkit/cel/type.hpp"
#include "testkit/cel/value.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The functions and operators of CEL, with the libraries that Kubernetes adds.
namespace kube::testkit::cel {

using Arguments = std::span<const Val>;
/// Implements an overload. No argument is an error and all match the signature; the receiver of a
/// member call is the first argument.
using Function = Val (*)(Meter& meter, Arguments arguments);

/// The cost model of a call, by the sizes of its arguments.
enum class Cost : std::uint8_t {
  kOne,
  kFirst,     ///< traverses the first string
  kBoth,      ///< traverses the first two strings
  kShorter,   ///< traverses the shorter of the first two strings
  kProduct,   ///< searches one string in another
  kRegex,     ///< searches a regular expression in a string
  kElements,  ///< visits the elements of the first argument
  kPairs,     ///< combines each element of the first with each of the second
};

/// One signature of a function.
struct Overload {
  std::string name;
  bool is_member = false;
  std::vector<TypePtr> parameters = {};  ///< the receiver comes first
  TypePtr result = nullptr;
  Function run = nullptr;
  Cost cost = Cost::kOne;
};

/// A row of a library: "string->contains(string): bool" is a member function of strings,
/// "size(list<A>): int" is a global function. Type names of one letter are type parameters.
struct Declaration {
  const char* signature;
  Function run;
  Cost cost = Cost::kOne;
};

/// Returns the overloads of a name, or null if there is no such function.
[[nodiscard]] const std::vector<Overload>* find_functions(std::string_view name);

/// Returns whether the real server has this function but it is not implemented here.
[[nodiscard]] bool is_missing_function(std::string_view name);

/// Charges the cost of a call. Must be called before the function runs.
void charge_call(Meter& meter, Cost cost, Arguments arguments);

/// The function libraries, one per file.
[[nodiscard]] std::span<const Declaration> arithmetic_library();
[[nodiscard]] std::span<const Declaration> comparison_library();
[[nodiscard]] std::span<const Declaration> conversion_library();
[[nodiscard]] std::span<const Declaration> time_library();
[[nodiscard]] std::span<const Declaration> string_library();
[[nodiscard]] std::span<const Declaration> list_library();
[[nodiscard]] std::span<const Declaration> set_library();
[[nodiscard]] std::span<const Declaration> optional_library();
[[nodiscard]] std::span<const Declaration> address_library();
[[nodiscard]] std::span<const Declaration> url_library();
[[nodiscard]] std::span<const Declaration> quantity_library();
[[nodiscard]] std::span<const Declaration> semver_library();
[[nodiscard]] std::span<const Declaration> format_library();

}  // namespace kube::testkit::cel
