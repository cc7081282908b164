// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace kube::detail {

/// A list of callbacks for a change. A callback is removed when its handle is destroyed.
///
/// Thread safety: all methods, from any thread. Callbacks are called without a lock.
class Listeners {
 public:
  using Function = std::function<void()>;

  [[nodiscard]] std::shared_ptr<void> add(Function function) {
    auto handle = std::make_shared<Function>(std::move(function));
    const std::scoped_lock lock{mutex_};
    std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
    listeners_.push_back(handle);
    return handle;
  }
  void notify() const {
    std::vector<std::weak_ptr<Function>> listeners;
    {
      const std::scoped_lock lock{mutex_};
      listeners = listeners_;
    }
    for (const std::weak_ptr<Function>& listener : listeners) {
      if (const std::shared_ptr<Function> function = listener.lock()) (*function)();
    }
  }

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::weak_ptr<Function>> listeners_;
};

}  // namespace kube::detail
