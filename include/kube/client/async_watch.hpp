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

/// Events that a coroutine waits for, one after the other. Nothing once they have ended.
class AwaitedEvents : public Awaited<std::optional<AnyWatchEvent>> {
 public:
  /// True if there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
  /// The version of the last event or bookmark, for a retrying watch.
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
/// See Watch for what the events are and when they end. Events that nobody takes hold the server back. One coroutine at a
/// time waits for the next event; while it does, the watch is destroyed on the queue of that coroutine only.
template <typename T>
class AsyncWatch {
 public:
  /// `co_await next()` is a std::optional<WatchEvent<T>>: nothing once the watch has ended. A stop of `stop`, or of the
  /// Task, ends the watch.
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

/// RetryWatch for coroutines; see there, and AsyncWatch.
template <typename T>
class AsyncRetryWatch {
 public:
  /// `co_await next()` is a std::optional<WatchEvent<T>>: nothing after the end, or a stop of `stop` or of the Task, which
  /// ends it as well.
  [[nodiscard]] auto next(std::stop_token stop = {}) {
    return detail::NextEvent<T>{*core_, std::move(stop)};
  }
  /// The version of the last event or bookmark.
  [[nodiscard]] std::string last_version() const { return core_->last_version(); }

 private:
  friend struct detail::Inside;
  explicit AsyncRetryWatch(std::unique_ptr<detail::AwaitedEvents> core) noexcept
      : core_(std::move(core)) {}

  std::unique_ptr<detail::AwaitedEvents> core_;
};

}  // namespace kube
