// SPDX-License-Identifier: Apache-2.0
#include <kube/client/retry.hpp>

namespace kube {

using namespace std::chrono_literals;

BackoffOptions default_retry() { return {.initial = 10ms, .factor = 1, .jitter = 0.1, .tries = 5}; }

BackoffOptions slow_retry() { return {.initial = 10ms, .factor = 5, .jitter = 0.1, .tries = 4}; }

}  // namespace kube
