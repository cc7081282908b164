// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"

#include <map>
#include <string>

namespace kube::testkit::cel {

/// The types bound to the type parameters of a generic function.
using Bindings = std::map<std::string, TypePtr, std::less<>>;

/// Returns whether a value of type `found` can be used where `wanted` is expected. Binds the type
/// parameters of `wanted`.
[[nodiscard]] bool is_assignable(const TypePtr& wanted, const TypePtr& found, Bindings& bindings);

/// Returns `type` with its parameters replaced. Unbound parameters become dyn.
[[nodiscard]] TypePtr substitute(const TypePtr& type, const Bindings& bindings);

}  // namespace kube::testkit::cel
