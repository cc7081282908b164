// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kube::bench {

/// A small generator (splitmix64) with the same numbers in every standard library, so that a
/// population is the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  /// Creates the generator of one stream, independent of the order in which streams are used.
  Random(std::uint64_t seed, std::uint64_t stream) noexcept : state_(seed) {
    state_ = next() ^ (stream * 0x9e3779b97f4a7c15U);
    state_ = next();
  }

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// Returns a number from 0 up to, not including, `bound`.
  std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>(next() % bound); }
  /// Returns a number from `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }
  std::string_view pick(std::span<const std::string_view> words) noexcept {
    return words[below(words.size())];
  }

  std::string text(std::string_view alphabet, std::size_t length) {
    std::string result(length, ' ');
    for (char& c : result) c = alphabet[below(alphabet.size())];
    return result;
  }
  std::string hex(std::size_t length) { return text("0123456789abcdef", length); }
  /// Returns a random suffix of a name like Kubernetes: no vowels, no digits that look like them.
  std::string suffix(std::size_t length) { return text("bcdfghjklmnpqrstvwxz2456789", length); }
  std::string uuid() {
    return hex(8) + '-' + hex(4) + "-4" + hex(3) + '-' + text("89ab", 1) + hex(3) + '-' + hex(12);
  }

 private:
  std::uint64_t state_;
};

}  // namespace kube::bench
