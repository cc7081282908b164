// SPDX-License-Identifier: Apache-2.0
#include "exchange_queue.hpp"

#include <utility>

#include "exchange.hpp"

namespace kube::detail {

std::shared_ptr<Exchange>& ExchangeQueue::next_of(Exchange& exchange) const noexcept {
  return exchange.next[link_];
}

void ExchangeQueue::push(std::shared_ptr<Exchange> exchange) noexcept {
  Exchange* const added = exchange.get();
  (last_ == nullptr ? first_ : next_of(*last_)) = std::move(exchange);
  last_ = added;
  ++size_;
}

std::shared_ptr<Exchange> ExchangeQueue::pop() noexcept {
  if (first_ == nullptr) return nullptr;
  std::shared_ptr<Exchange> next = std::move(next_of(*first_));
  std::shared_ptr<Exchange> oldest = std::exchange(first_, std::move(next));
  if (first_ == nullptr) last_ = nullptr;
  --size_;
  return oldest;
}

void ExchangeQueue::erase(const Exchange& exchange) noexcept {
  Exchange* before = nullptr;
  for (Exchange* at = first_.get(); at != nullptr; before = at, at = next_of(*at).get()) {
    if (at != &exchange) continue;
    std::shared_ptr<Exchange>& owner = before == nullptr ? first_ : next_of(*before);
    const std::shared_ptr<Exchange> erased = std::move(owner);
    owner = std::move(next_of(*erased));
    if (last_ == at) last_ = before;
    --size_;
    return;
  }
}

void ExchangeQueue::clear() noexcept {
  while (pop() != nullptr) {  // one by one: destroying a chain of links would recurse
  }
}

}  // namespace kube::detail
