// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>
#include <vector>

namespace kube::detail {

/// The documents of a YAML stream that are not empty. Throws CodecError that names line and column.
///
/// Memory is in proportion to `text`: what aliases and merge keys repeat is limited in values and in bytes, for all
/// documents of the stream together.
[[nodiscard]] std::vector<Value> read_yaml(std::string_view text);

}  // namespace kube::detail
