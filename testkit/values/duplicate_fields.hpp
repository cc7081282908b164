// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

/// Members that stand twice in one object of a JSON document, as "spec.x" or "spec.containers[0].y", each
/// once, in the order of the text (CR-7). At most 100 are told. Throws CodecError if the text is not JSON.
[[nodiscard]] std::vector<std::string> duplicate_fields(std::string_view json);

/// Sorts such paths by where they stand in the document, those that are not in it last. Throws CodecError if the text
/// is not JSON.
void sort_by_place(std::string_view json, std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace kube::testkit::detail
