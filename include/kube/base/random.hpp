// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace kube {

/// A source of random numbers, evenly spread over [0, 1). Whatever draws some takes one in its options, so that
/// tests know them beforehand. Not for secrets.
using Random = std::function<double()>;

/// One that differs from run to run. May be called from any thread.
[[nodiscard]] Random system_random();

}  // namespace kube
