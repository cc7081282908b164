// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/retry_watch.hpp>
#include <kube/client/watch_event.hpp>
#include <kube/engine/suspension.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {

namespace detail {

/// A sequence of events that a coroutine awaits one by one. Yields nothing after the end.
class AwaitedEvents : public Awaited<std::optional<AnyWatchEvent>> {
 public:
  /// True once there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
  /// Returns the resource version of the last event or bookmark, for a retrying watch.
  [[nodiscard]] virtual std::string last_version() const { return {}; }
};

[[nodiscard]] std::unique_ptr<AwaitedEvents> retry_watch_async(
    ResourceCore resource, const ListOptions& options, RetryWatchCore::VersionOf version_of);

template <typename T>
class NextEvent : public AwaitRef<std::optional<AnyWatchEvent>> {
 public:
  using AwaitRef<std::optional<AnyWatchEvent>>::AwaitRef;
  std::optional<WatchEvent<T>> await_resume() {
    std::optional<AnyWatchEvent> event = AwaitRef<std::optional<AnyWatchEvent>>::await_resume();
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
};

}  // namespace detail

/// Watch for coroutines:
///
///   const kube::ListOptions options{.resource_version = version};
///   auto watch = co_await pods.watch_async(options);
///   while (auto event = co_await watch.next()) ...
///
/// See Watch for the events and for when they end. Unread events hold the server back
/// (back-pressure). One coroutine at a time waits for the next event. While it waits, the watch may
/// be destroyed only on the queue of that coroutine.
template <typename T>
class AsyncWatch {
 public:
  /// `co_await next()` yields a std::optional<WatchEvent<T>>: nothing once the watch has ended. A
  /// stop of `stop`, or of the Task, ends the watch.
  [[nodiscard]] auto next(std::stop_token stop = {}) {
    return detail::NextEvent<T>{*core_, std::move(stop)};
  }
  /// True once there will be no further event.
  [[nodiscard]] bool has_ended() const noexcept { return core_->has_ended(); }

 private:
  friend struct detail::Inside;
  explicit AsyncWatch(std::unique_ptr<detail::AwaitedEvents> core) noexcept
      : core_(std::move(core)) {}

  std::unique_ptr<detail::AwaitedEvents> core_;
};

/// RetryWatch for coroutines. See RetryWatch and AsyncWatch.
template <typename T>
class AsyncRetryWatch {
 public:
  /// `co_await next()` yields a std::optional<WatchEvent<T>>: nothing after the end. A stop of
  /// `stop`, or of the Task, ends the watch.
  [[nodiscard]] auto next(std::stop_token stop = {}) {
    return detail::NextEvent<T>{*core_, std::move(stop)};
  }
  /// Returns the resource version of the last event or bookmark.
  [[nodiscard]] std::string last_version() const { return core_->last_version(); }

 private:
  friend struct detail::Inside;
  explicit AsyncRetryWatch(std::unique_ptr<detail::AwaitedEvents> core) noexcept
      : core_(std::move(core)) {}

  std::unique_ptr<detail::AwaitedEvents> core_;
};

}  // namespace kube
