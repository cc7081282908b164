// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/workqueue/rate_limiters.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace sample {

/// The retry delay of a failed Foo: 5 ms, doubled on each failure up to 1000 s; and all Foos
/// together are retried at most 50 times per second, after a burst of 300.
template <typename Key>
[[nodiscard]] std::unique_ptr<kube::ItemRateLimiter<Key>> rate_limiter(kube::Clock& clock) {
  std::vector<std::unique_ptr<kube::ItemRateLimiter<Key>>> limiters;
  limiters.push_back(std::make_unique<kube::ExponentialLimiter<Key>>(std::chrono::milliseconds{5},
                                                                     std::chrono::seconds{1000}));
  limiters.push_back(std::make_unique<kube::BucketLimiter<Key>>(50, 300, clock));
  return std::make_unique<kube::MaxOfLimiter<Key>>(std::move(limiters));
}

}  // namespace sample
