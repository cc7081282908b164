// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

/// Returns members that occur twice in one object of a JSON document, as "spec.x" or
/// "spec.containers[0].y", each once, in document order (CR-7). Reports at most 100. Throws
/// CodecError if the text is not JSON.
[[nodiscard]] std::vector<std::string> duplicate_fields(std::string_view json);

/// Sorts such paths by their position in the document; paths that are not in it come last. Throws
/// CodecError if the text is not JSON.
void sort_by_place(std::string_view json, std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace kube::testkit::detail
