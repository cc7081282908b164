// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"

#include <map>
#include <string>

namespace kube::testkit::cel {

/// What the parameters of a generic function stand for.
using Bindings = std::map<std::string, TypePtr, std::less<>>;

/// Whether a value of type `found` can be used where `wanted` is expected. Binds parameters of `wanted` on the way.
[[nodiscard]] bool is_assignable(const TypePtr& wanted, const TypePtr& found, Bindings& bindings);

/// `type` with its parameters replaced; those that nothing binds become dyn.
[[nodiscard]] TypePtr substitute(const TypePtr& type, const Bindings& bindings);

}  // namespace kube::testkit::cel
