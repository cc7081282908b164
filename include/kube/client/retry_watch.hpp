// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/watch.hpp>

#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

namespace detail {

/// See RetryWatch.
class RetryWatchCore {
 public:
  using VersionOf = std::string_view (*)(const void* object);

  RetryWatchCore(ResourceCore resource, ListOptions options, VersionOf version_of);
  ~RetryWatchCore();
  RetryWatchCore(const RetryWatchCore&) = delete;
  RetryWatchCore& operator=(const RetryWatchCore&) = delete;

  [[nodiscard]] std::optional<AnyWatchEvent> next(std::stop_token stop);
  void stop() noexcept { stop_.request_stop(); }
  [[nodiscard]] std::string last_version() const;

  /// next() in the form that is polled (engine/polling.hpp), instead of it. Nothing: it is pending, unless has_ended().
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next(const Poller& poller);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  [[nodiscard]] bool has_ended() const noexcept { return ended_ || stop_.stop_requested(); }
  /// Ends the watch that is open.
  void close() noexcept;

 private:
  /// Opens the next watch when it is time to. An event if that failed for good.
  std::optional<AnyWatchEvent> reopen();
  /// The same without waiting. False while it is pending.
  [[nodiscard]] bool poll_reopen(const Poller& poller, std::optional<AnyWatchEvent>& event);
  /// An attempt to open a watch begins: the next one comes a second later at the earliest.
  void begin_attempt();
  /// To be called while an exception is handled that ended the attempt. An event if it failed for good.
  std::optional<AnyWatchEvent> attempt_failed();
  [[nodiscard]] std::optional<AnyWatchEvent> handle(AnyWatchEvent event);
  AnyWatchEvent end_with(Ref<meta::v1::Status> status);

  const ResourceCore resource_;
  const VersionOf version_of_;
  ListOptions options_;
  std::unique_ptr<WatchCore> watch_;
  std::unique_ptr<WatchOperation> operation_;  // takes its place for poll_next()
  bool is_open_ = false;                       // operation_ is
  Clock::TimePoint not_before_{};
  bool ended_ = false;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::string version_;  // guarded by mutex_
};

}  // namespace detail

/// A watch that goes on where it ended, for as long as the server knows the version: with a pause of at
/// least a second between attempts, and without an event lost or repeated. Bookmarks are not handed out.
///
/// It ends with a kError event when the version has become too old (410: list again), when the server
/// refuses the user (401, 403), or when an object comes without a version.
///
/// Thread safety: one thread reads; stop() and last_version() may be called from any.
template <typename T>
class RetryWatch {
 public:
  /// The next event; waits for it. Nothing after the end, stop(), or a stop of `stop`, which ends it as well.
  [[nodiscard]] std::optional<WatchEvent<T>> next(std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next(std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  void stop() noexcept { core_->stop(); }
  /// Where it stands: the version of the last event or bookmark.
  [[nodiscard]] std::string last_version() const { return core_->last_version(); }

  [[nodiscard]] auto begin() { return detail::EventIterator<RetryWatch, WatchEvent<T>>{*this}; }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

 private:
  friend struct detail::Inside;
  RetryWatch(detail::ResourceCore resource, ListOptions options,
             detail::RetryWatchCore::VersionOf version_of)
      : core_(std::make_unique<detail::RetryWatchCore>(std::move(resource), std::move(options),
                                                       version_of)) {}

  std::unique_ptr<detail::RetryWatchCore> core_;
};

}  // namespace kube
