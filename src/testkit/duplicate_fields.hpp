// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// Members that stand twice in one object of a JSON document, as "spec.x" or "spec.containers[0].y", each
/// once, in the order of the text (CR-7). At most 100 are told. Throws CodecError if the text is not JSON.
[[nodiscard]] std::vector<std::string> duplicate_fields(std::string_view json);

}  // namespace kube::testkit::detail
