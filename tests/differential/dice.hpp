// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

namespace kube::differential {

/// Seeded randomness: the same seed gives the same requests.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// Returns a number from 0 to n - 1.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
  /// Returns true with a probability of `percent` %.
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  template <typename List>
  const auto& pick_of(const List& choices) {
    return choices[below(std::size(choices))];
  }
  std::string text(std::initializer_list<const char*> choices) {
    return *(choices.begin() + below(choices.size()));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kube::differential
