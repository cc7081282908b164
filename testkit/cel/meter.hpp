// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/validation/string_formats.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// Thrown when an evaluation takes more than it may.
struct CostExceeded {};

/// Counts what one evaluation costs, and ends it where it costs too much.
///
/// The cost is that of the real server as far as it can be seen from outside. Steps count the work here, which a cost
/// may leave out (the elements of nested lists that are compared); their limit is only there to be safe.
class Meter {
 public:
  explicit Meter(std::uint64_t cost_limit) : limit_(cost_limit) {}

  void charge(std::uint64_t cost) {
    cost_ += cost;
    if (cost_ > limit_) throw CostExceeded{};
    step();
  }
  void step(std::uint64_t count = 1) {
    steps_ += count;
    if (steps_ > kMostSteps) throw CostExceeded{};
  }
  [[nodiscard]] std::uint64_t cost() const { return cost_; }

  /// A regular expression, compiled once. Throws std::invalid_argument.
  const detail::Pattern& pattern(std::string_view expression) {
    const auto found = patterns_.find(expression);
    if (found != patterns_.end()) return found->second;
    return patterns_.emplace(std::string{expression}, detail::Pattern{expression}).first->second;
  }

 private:
  static constexpr std::uint64_t kMostSteps = 5'000'000;
  std::uint64_t limit_;
  std::uint64_t cost_ = 0;
  std::uint64_t steps_ = 0;
  std::map<std::string, detail::Pattern, std::less<>> patterns_;
};

}  // namespace kube::testkit::cel
