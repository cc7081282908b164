// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace kube::detail {

/// A document of a YAML stream; see YamlDocument.
struct ReadDocument {
  Value content;
  std::size_t number = 0;
  std::size_t line = 0;
};

/// Returns the non-empty documents of a YAML stream. Throws YamlError.
///
/// Memory is proportional to `text`: the content that aliases and merge keys repeat is limited in
/// values and in bytes, for all documents of the stream together.
[[nodiscard]] std::vector<ReadDocument> read_yaml(std::string_view text);

}  // namespace kube::detail
