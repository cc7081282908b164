// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/validation/string_formats.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// Thrown when an evaluation exceeds its cost limit.
struct CostExceeded {};

/// Counts the cost of one evaluation and aborts it at the limit.
///
/// The cost follows the real server as far as it can be observed from outside. Steps count the work
/// done here, including work that the cost model omits (comparing the elements of nested lists);
/// their limit is a safety net.
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

  /// Returns a compiled regular expression, from a cache. Throws std::invalid_argument.
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
