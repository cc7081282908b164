// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <string>
#include <string_view>

namespace kube::detail {

/// The path of the field in which the byte at `at` stands, for error messages: `spec.containers[3].image`.
/// Found by walking down from the start, so that readers need not carry a path along. The message may be
/// bad, there or behind it. `is_tag`: what starts at the byte is a field of its own, and the path is that of
/// the message around it.
[[nodiscard]] std::string protobuf_path(const Type& type, std::string_view message, const char* at,
                                        bool is_tag);

}  // namespace kube::detail
