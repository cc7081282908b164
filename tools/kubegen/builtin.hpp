// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kube::gen {

/// A type of the library that an OpenAPI document refers to.
struct Builtin {
  Shape shape;
  std::string header;
};

/// Returns the library's type for a definition such as "io.k8s.api.core.v1.PodSpec", or nullopt.
/// The library has the types of the modules that the schema of the built-in API is extracted from.
[[nodiscard]] std::optional<Builtin> find_builtin(std::string_view definition);

}  // namespace kube::gen
