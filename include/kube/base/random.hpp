// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace kube {

/// A source of random numbers, uniformly distributed over [0, 1). Components take one in their
/// options, so that tests can make them predictable. Not for secrets.
using Random = std::function<double()>;

/// Returns a source with a random seed. It may be called from any thread.
[[nodiscard]] Random system_random();

}  // namespace kube
