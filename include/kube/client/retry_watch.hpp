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

/// RetryWatch without the type. See RetryWatch.
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

  /// Polled form of next() (engine/polling.hpp), used instead of it. Returns nothing while pending,
  /// and after the end (has_ended()).
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next(const Poller& poller);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  [[nodiscard]] bool has_ended() const noexcept { return ended_ || stop_.stop_requested(); }
  /// Closes the current watch.
  void close() noexcept;

 private:
  /// Opens the next watch when it is due. Returns an event if that failed permanently.
  std::optional<AnyWatchEvent> reopen();
  /// Polled form of reopen(). Returns false while pending.
  [[nodiscard]] bool poll_reopen(const Poller& poller, std::optional<AnyWatchEvent>& event);
  /// Starts an attempt to open a watch. The next attempt is made a second later at the earliest.
  void begin_attempt();
  /// Called in a catch block when an attempt has failed. Returns an event if the failure is
  /// permanent.
  std::optional<AnyWatchEvent> attempt_failed();
  [[nodiscard]] std::optional<AnyWatchEvent> handle(AnyWatchEvent event);
  AnyWatchEvent end_with(Ref<meta::v1::Status> status);

  const ResourceCore resource_;
  const VersionOf version_of_;
  ListOptions options_;
  std::unique_ptr<WatchCore> watch_;
  std::unique_ptr<WatchOperation> operation_;  // replaces watch_ for poll_next()
  bool is_open_ = false;                       // whether operation_ has opened its watch
  Clock::TimePoint not_before_{};
  bool ended_ = false;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::string version_;  // guarded by mutex_
};

}  // namespace detail

/// A watch that resumes from its last resource version whenever it ends, as long as the server
/// still has that version. client-go's RetryWatcher. Attempts are at least a second apart; no event
/// is lost or repeated. Bookmarks are not delivered.
///
/// It ends with a kError event when the resource version is too old (410: list again), when the
/// server refuses the user (401, 403), or when an object has no resource version.
///
/// Thread safety: one thread reads; stop() and last_version() may be called from any.
template <typename T>
class RetryWatch {
 public:
  /// Waits for the next event. Returns nothing after the end, after stop(), or after a stop of
  /// `stop`, which ends the watch as well.
  [[nodiscard]] std::optional<WatchEvent<T>> next(std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next(std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  /// Ends the watch. A waiting next() returns.
  void stop() noexcept { core_->stop(); }
  /// Returns the resource version of the last event or bookmark.
  [[nodiscard]] std::string last_version() const { return core_->last_version(); }

  /// Iterates over the events with next().
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
