// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube {

/// How objects travel.
enum class Format : std::uint8_t { kJson, kProtobuf };

}  // namespace kube
