// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/meter.hpp"
#include "testkit/cel/value.hpp"

#include <string_view>

namespace kube::testkit::cel {

/// Implements `pattern.format(arguments)`: %s, %d, %f, %e, %x, %X, %o, %b and %%.
[[nodiscard]] Val format_text(Meter& meter, std::string_view pattern, const ListData& arguments);

}  // namespace kube::testkit::cel
