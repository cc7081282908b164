// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube::testkit::cel {

/// Which estimated costs of a schema's rules are limited (CE-12).
enum class CostLimits : std::uint8_t {
  kAll,    ///< that of each expression, and their sum
  kTotal,  ///< only the sum: an update leaves the schema as it is
};

}  // namespace kube::testkit::cel
