// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/leaf.hpp"

#include <string_view>

namespace kube::detail {

/// Returns the text or bytes of field 1, the only field of many leaf messages; empty if it is
/// absent. Sets the input's problem if the message is malformed.
[[nodiscard]] std::string_view only_text_field(LeafOperations::Input& input,
                                               std::string_view message);

}  // namespace kube::detail
