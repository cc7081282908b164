// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// A key that a map has more than once.
struct YamlDuplicate {
  std::string key;
  int line = 0;  ///< of the value that replaces an earlier one; the first line is 1
};

/// Returns the non-empty documents of a YAML stream. Throws CodecError with line and column.
///
/// Duplicate keys are errors, unless `duplicates` is given: then they are added to it in the order
/// in which their values end, and the last value of a key counts.
///
/// Memory is proportional to `text`: the content that aliases and merge keys repeat is limited in
/// values and in bytes, for all documents of the stream together.
[[nodiscard]] std::vector<Value> read_yaml(std::string_view text,
                                           std::vector<YamlDuplicate>* duplicates = nullptr);
/// Returns the only document of a stream. Throws CodecError, also if there is none or more than one.
[[nodiscard]] Value read_yaml_document(std::string_view text,
                                       std::vector<YamlDuplicate>* duplicates = nullptr);

}  // namespace kube::detail
