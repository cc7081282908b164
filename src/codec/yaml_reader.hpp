// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// A document of a YAML stream; see YamlDocument.
struct ReadDocument {
  Value content;
  std::size_t number = 0;
  std::size_t line = 0;
};

/// A key that a map has already.
struct YamlDuplicate {
  std::size_t line = 0;  ///< of the value, from 1
  std::string key;       ///< as a literal: text in quotes, numbers and booleans without
};

/// Returns the non-empty documents of a YAML stream. Throws YamlError.
///
/// Memory is proportional to `text`: the content that aliases and merge keys repeat is limited in
/// values and in bytes, for all documents of the stream together.
///
/// A duplicate key is an error, unless `duplicates` is given: then it is recorded there, and the
/// last value counts.
[[nodiscard]] std::vector<ReadDocument> read_yaml(
    std::string_view text, std::vector<YamlDuplicate>* duplicates = nullptr);
/// Returns the only document. Throws CodecError also if there is none or more than one.
[[nodiscard]] Value read_yaml_document(std::string_view text,
                                       std::vector<YamlDuplicate>* duplicates = nullptr);

}  // namespace kube::detail
