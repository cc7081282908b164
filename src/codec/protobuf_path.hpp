// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <string>
#include <string_view>

namespace kube::detail {

/// Returns the path of the field that contains the byte at `at`, for error messages:
/// `spec.containers[3].image`. It is found by walking down from the start, so that readers need not
/// keep track of a path. The message may be malformed at this byte or after it. `is_tag`: the byte
/// is the start of a field, and the path is that of the message around it.
[[nodiscard]] std::string protobuf_path(const Type& type, std::string_view message, const char* at,
                                        bool is_tag);

}  // namespace kube::detail
