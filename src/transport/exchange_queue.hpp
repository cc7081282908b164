// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace kube::detail {

class Exchange;

/// The intrusive links of an Exchange, one for each kind of queue that it can be in at the same
/// time.
enum class ExchangeLink { kPosted, kWaiting, kFinished };
inline constexpr std::size_t kExchangeLinks = 3;

/// Intrusive FIFO of exchanges: no operation allocates or throws, so that exchanges can be handed
/// on even when memory is exhausted.
///
/// Thread safety: none. An exchange is in at most one queue of each kind of link.
class ExchangeQueue {
 public:
  explicit ExchangeQueue(ExchangeLink link) noexcept : link_(static_cast<std::size_t>(link)) {}
  ~ExchangeQueue() { clear(); }
  ExchangeQueue(const ExchangeQueue&) = delete;
  ExchangeQueue& operator=(const ExchangeQueue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push(std::shared_ptr<Exchange> exchange) noexcept;
  /// Removes and returns the oldest; null if the queue is empty.
  [[nodiscard]] std::shared_ptr<Exchange> pop() noexcept;
  /// Removes the exchange if it is in the queue. Linear time.
  void erase(const Exchange& exchange) noexcept;
  void clear() noexcept;

 private:
  [[nodiscard]] std::shared_ptr<Exchange>& next_of(Exchange& exchange) const noexcept;

  const std::size_t link_;
  std::shared_ptr<Exchange> first_;
  Exchange* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kube::detail
