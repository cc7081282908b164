// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/table.hpp"

#include <algorithm>

namespace kube::testkit::detail {

const Fault* find_fault(const FaultPlan& plan, Fault::Kind kind) noexcept {
  const auto found = std::ranges::find(plan, kind, &Fault::kind);
  return found == plan.end() ? nullptr : &*found;
}

void FaultTable::add(FaultRule rule) {
  const std::lock_guard guard{mutex_};
  rules_.push_back(std::move(rule));
}

void FaultTable::clear() {
  const std::lock_guard guard{mutex_};
  rules_.clear();
}

FaultPlan FaultTable::plan(const RequestInfo& request) {
  FaultPlan plan;
  const std::lock_guard guard{mutex_};
  for (auto rule = rules_.begin(); rule != rules_.end();) {
    const auto here = rule++;
    if (!here->filter.matches(request)) continue;
    if (here->skip > 0) {
      --here->skip;
      continue;
    }
    if (here->probability < 1 && std::uniform_real_distribution<>{}(random_) >= here->probability) {
      continue;
    }
    plan.push_back(here->fault);
    if (here->left > 0 && --here->left == 0) rules_.erase(here);
  }
  if (!plan.empty()) ++struck_;
  return plan;
}

std::uint64_t FaultTable::struck() const {
  const std::lock_guard guard{mutex_};
  return struck_;
}

std::size_t FaultTable::waiting() const {
  const std::lock_guard guard{mutex_};
  return rules_.size();
}

}  // namespace kube::testkit::detail
