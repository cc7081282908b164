// SPDX-License-Identifier: Apache-2.0
#include <kube/base/random.hpp>

#include <cstdint>
#include <random>

namespace kube {

Random system_random() {
  return [] {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    // 53 bits fill a double exactly; std::uniform_real_distribution may round up to 1.
    return static_cast<double>(engine() >> 11) * 0x1p-53;
  };
}

}  // namespace kube
