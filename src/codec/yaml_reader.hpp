// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>
#include <vector>

namespace kube::detail {

/// Returns the non-empty documents of a YAML stream. Throws CodecError with line and column.
///
/// Memory is proportional to `text`: the content that aliases and merge keys repeat is limited in
/// values and in bytes, for all documents of the stream together.
[[nodiscard]] std::vector<Value> read_yaml(std::string_view text);

}  // namespace kube::detail
