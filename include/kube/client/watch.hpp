// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/client/watch_event.hpp>

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube {

namespace detail {

/// Watch without the type. See Watch.
class WatchCore {
 public:
  virtual ~WatchCore() = default;
  [[nodiscard]] virtual std::optional<AnyWatchEvent> next(std::stop_token stop) = 0;
  /// next() that waits at most `timeout`.
  [[nodiscard]] virtual std::optional<AnyWatchEvent> next_for(std::chrono::nanoseconds timeout,
                                                              std::stop_token stop) = 0;
  virtual void stop() noexcept = 0;
  /// True if next() would neither wait nor decode.
  [[nodiscard]] virtual bool has_next() const noexcept = 0;
  /// True once there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
};

/// Input iterator over the events of a watch. Reaches the end when the watch ends or is stopped.
template <typename WatchType, typename EventOf>
class EventIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = EventOf;
  using difference_type = std::ptrdiff_t;
  using pointer = const EventOf*;
  using reference = const EventOf&;

  EventIterator() = default;
  explicit EventIterator(WatchType& watch) : watch_(&watch), event_(watch.next()) {}

  reference operator*() const { return *event_; }
  pointer operator->() const { return &*event_; }
  EventIterator& operator++() {
    event_ = watch_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const EventIterator& a, std::default_sentinel_t /*end*/) {
    return !a.event_;
  }

 private:
  WatchType* watch_ = nullptr;
  std::optional<EventOf> event_;
};

}  // namespace detail

/// A running watch: the events of objects of one kind, in the order in which they happened.
///
///   for (const auto& event : pods.watch({.resource_version = version})) ...
///
/// It ends when the server or the network closes it, which both do from time to time. Open the next
/// one at the last resource version seen (RetryWatch does this). Data that cannot be decoded
/// becomes one kError event with code 500, after which the watch ends. A slow consumer holds the
/// server back (back-pressure): little more than the current event is kept in memory.
///
/// Thread safety: one thread reads; stop() may be called from any, any number of times.
template <typename T>
class Watch {
 public:
  /// Waits for the next event. Returns nothing once the watch has ended, after stop(), or after a
  /// stop of `stop`, which ends the watch as well.
  [[nodiscard]] std::optional<WatchEvent<T>> next(std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next(std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  /// next() that waits at most `timeout` of real time. Also returns nothing on timeout; has_ended()
  /// tells the difference.
  [[nodiscard]] std::optional<WatchEvent<T>> next_for(std::chrono::nanoseconds timeout,
                                                      std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next_for(timeout, std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  /// True once there will be no further event.
  [[nodiscard]] bool has_ended() const noexcept { return core_->has_ended(); }
  /// Ends the watch. A waiting next() returns.
  void stop() noexcept { core_->stop(); }

  /// Iterates over the events with next().
  [[nodiscard]] auto begin() { return detail::EventIterator<Watch, WatchEvent<T>>{*this}; }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

 private:
  friend struct detail::Inside;
  explicit Watch(std::unique_ptr<detail::WatchCore> core) : core_(std::move(core)) {}

  std::unique_ptr<detail::WatchCore> core_;
};

}  // namespace kube
