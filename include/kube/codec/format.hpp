// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube {

/// The encoding of objects on the wire.
enum class Format : std::uint8_t { kJson, kProtobuf };

}  // namespace kube
