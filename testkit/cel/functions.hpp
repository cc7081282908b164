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
/// Arguments are no errors and fit the signature; that of the receiver is the first.
using Function = Val (*)(Meter& meter, Arguments arguments);

/// The cost of a call, by the sizes of its arguments.
enum class Cost : std::uint8_t {
  kOne,
  kFirst,     ///< a walk through the first argument's text
  kBoth,      ///< ... through the texts of the first two
  kShorter,   ///< ... through the shorter of the first two
  kProduct,   ///< one text is searched in another
  kRegex,     ///< an expression is searched in a text
  kElements,  ///< the elements of the first argument
  kPairs,     ///< each element of the first with each of the second
};

/// One signature of a function.
struct Overload {
  std::string name;
  bool is_member = false;
  std::vector<TypePtr> parameters = {};  ///< the receiver first
  TypePtr result = nullptr;
  Function run = nullptr;
  Cost cost = Cost::kOne;
};

/// A row of a library: "string->contains(string): bool" is called on a text, "size(list<A>): int" is not called on
/// anything. Types of one letter are parameters.
struct Declaration {
  const char* signature;
  Function run;
  Cost cost = Cost::kOne;
};

/// The overloads of a name; null if there is no such function.
[[nodiscard]] const std::vector<Overload>* find_functions(std::string_view name);

/// Whether the real server has this function and it cannot be evaluated here.
[[nodiscard]] bool is_missing_function(std::string_view name);

/// Charges for a call before it runs.
void charge_call(Meter& meter, Cost cost, Arguments arguments);

/// The libraries, one per file.
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
