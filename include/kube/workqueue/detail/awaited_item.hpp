// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/engine/suspension.hpp>
#include <kube/workqueue/detail/waiters.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube::detail {

/// Awaits the next item of a queue, which must outlive it.
template <typename Queue, typename Item>
class AwaitedItem final : public Awaited<std::optional<Item>> {
 public:
  explicit AwaitedItem(Queue& queue) noexcept : queue_(queue) {}
  AwaitedItem(const AwaitedItem&) = delete;
  AwaitedItem& operator=(const AwaitedItem&) = delete;
  ~AwaitedItem() override { leave(); }

  [[nodiscard]] std::optional<Item> take() override { return std::move(item_); }

 private:
  [[nodiscard]] bool poll() override {
    waiter_.waker = this->waker();
    may_be_woken_ = !queue_.poll_get(waiter_, item_, next_);
    return !may_be_woken_;
  }
  void stopped() override { leave(); }
  /// Leaves the queue, which passes on a wake-up that another waiter may need.
  void leave() noexcept {
    if (std::exchange(may_be_woken_, false)) queue_.leave(waiter_);
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return next_; }
  [[nodiscard]] Clock& clock() const noexcept override { return queue_.clock_; }

  Queue& queue_;
  CoroutineWaiter waiter_;
  bool may_be_woken_ = false;
  Clock::TimePoint next_ = Clock::TimePoint::max();
  std::optional<Item> item_;
};

template <typename Item, typename Queue>
[[nodiscard]] Await<std::optional<Item>> await_item(Queue& queue, std::stop_token stop) {
  return Await<std::optional<Item>>{std::make_unique<AwaitedItem<Queue, Item>>(queue),
                                    std::move(stop)};
}

}  // namespace kube::detail
