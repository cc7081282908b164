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

/// A watch of objects whose type is known elsewhere. See Watch.
class WatchCore {
 public:
  virtual ~WatchCore() = default;
  [[nodiscard]] virtual std::optional<AnyWatchEvent> next(std::stop_token stop) = 0;
  /// The same, but waits for no longer than `timeout`.
  [[nodiscard]] virtual std::optional<AnyWatchEvent> next_for(std::chrono::nanoseconds timeout,
                                                              std::stop_token stop) = 0;
  virtual void stop() noexcept = 0;
  /// True if next() would not have to wait, nor to decode.
  [[nodiscard]] virtual bool has_next() const noexcept = 0;
  /// True if there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
};

/// A range over events that ends with the watch; a stop ends it, too.
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

/// A running watch: events of objects of one kind, in the order in which they happened.
///
///   for (const auto& event : pods.watch({.resource_version = version})) ...
///
/// It ends when the server or the network ends it, which both do from time to time; whoever wants more opens
/// the next one at the last version seen (RetryWatch does). What cannot be decoded becomes one kError event
/// with code 500, and then the watch ends. A consumer that is slow holds the server back: little more than
/// the event at hand is kept in memory.
///
/// Thread safety: one thread reads; stop() may be called from any, any number of times.
template <typename T>
class Watch {
 public:
  /// The next event; waits for it. Nothing once the watch has ended, or after stop() or a stop of `stop`, which
  /// ends the watch as well.
  [[nodiscard]] std::optional<WatchEvent<T>> next(std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next(std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  /// The same, but waits for no longer than `timeout`, of real time: nothing may then also mean that nothing has happened
  /// yet, and has_ended() tells which.
  [[nodiscard]] std::optional<WatchEvent<T>> next_for(std::chrono::nanoseconds timeout,
                                                      std::stop_token stop = {}) {
    std::optional<detail::AnyWatchEvent> event = core_->next_for(timeout, std::move(stop));
    if (!event) return std::nullopt;
    return std::move(*event).template to<T>();
  }
  /// True once there will be no further event.
  [[nodiscard]] bool has_ended() const noexcept { return core_->has_ended(); }
  /// Ends the watch now, also for a next() that waits.
  void stop() noexcept { core_->stop(); }

  [[nodiscard]] auto begin() { return detail::EventIterator<Watch, WatchEvent<T>>{*this}; }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

 private:
  friend struct detail::Inside;
  explicit Watch(std::unique_ptr<detail::WatchCore> core) : core_(std::move(core)) {}

  std::unique_ptr<detail::WatchCore> core_;
};

}  // namespace kube
