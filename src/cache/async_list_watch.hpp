// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/options.hpp>
#include <kube/client/watch_event.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/object/object_ref.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace kube {
class Runtime;
}

namespace kube::detail {

/// A list in progress. See engine/polling.hpp for the rules of polling.
class AsyncList {
 public:
  virtual ~AsyncList() = default;
  /// Decodes the data that has arrived, at most about `budget` bytes per call (Poll::kMore: there
  /// is more), and passes each object to `on_item`, whose exceptions propagate. Throws ApiError,
  /// TransportError, CodecError, BudgetError, ConfigError.
  [[nodiscard]] virtual Poll poll(const std::function<void(ObjectRef)>& on_item,
                                  std::size_t budget) = 0;
  /// Valid once poll() has returned Poll::kReady.
  [[nodiscard]] virtual const ListMetadata& metadata() const noexcept = 0;
  /// Returns when to poll even if the waker has not been woken; TimePoint::max(): never. Valid
  /// until the next poll.
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept = 0;
};

/// A watch that is first opened, and then read.
class AsyncWatch {
 public:
  virtual ~AsyncWatch() = default;
  /// Opens the watch. Poll::kReady: it is open, or has ended already, because of a transient
  /// failure to reach the server. Throws as AsyncList::poll().
  [[nodiscard]] virtual Poll poll_open() = 0;
  /// Returns the next event, once the watch is open. Nothing means pending, unless has_ended().
  /// Data that cannot be decoded becomes one kError event, and a lost connection the end, as in
  /// Watch. So it throws only std::bad_alloc.
  [[nodiscard]] virtual std::optional<AnyWatchEvent> poll_next() = 0;
  /// True if poll_next() can return an event without waiting or decoding.
  [[nodiscard]] virtual bool has_next() const noexcept = 0;
  /// True if there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
  /// As AsyncList::wake_at().
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept = 0;
};

/// The non-blocking form of AnyListWatch. Sends nothing before the first poll. The operations it
/// returns may outlive it.
///
/// Thread safety: all methods may be called from any thread.
class AsyncListWatch {
 public:
  virtual ~AsyncListWatch() = default;
  /// Throws std::invalid_argument if a selector is malformed, and the exceptions of the user's
  /// tweak function.
  [[nodiscard]] virtual std::unique_ptr<AsyncList> start_list(const ListOptions& options,
                                                              Poller poller) = 0;
  [[nodiscard]] virtual std::unique_ptr<AsyncWatch> start_watch(const ListOptions& options,
                                                                Poller poller) = 0;
  [[nodiscard]] virtual bool supports_watch_list() const = 0;
  /// Returns the Runtime of the client; null if there is none.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const { return nullptr; }
  /// Waits until no call of user code is under way; none is made afterwards. Blocks.
  virtual void join() noexcept {}
};

}  // namespace kube::detail
