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

/// A list that is under way. See engine/polling.hpp for the rules of polling.
class AsyncList {
 public:
  virtual ~AsyncList() = default;
  /// Decodes what has arrived, but not much more than `budget` bytes in one call (Poll::kMore says that there are others),
  /// and hands each object to `on_item`; what that throws passes through. Throws ApiError, TransportError, CodecError,
  /// BudgetError, ConfigError.
  [[nodiscard]] virtual Poll poll(const std::function<void(ObjectRef)>& on_item,
                                  std::size_t budget) = 0;
  /// Once poll() has returned Poll::kReady.
  [[nodiscard]] virtual const ListMetadata& metadata() const noexcept = 0;
  /// When to poll although the waker has not been woken; TimePoint::max(): never. Valid until the next poll.
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept = 0;
};

/// A watch that is being opened, and then read.
class AsyncWatch {
 public:
  virtual ~AsyncWatch() = default;
  /// Poll::kReady: it is open, or has ended already, because the server could not be reached for reasons that pass.
  /// Throws as AsyncList::poll().
  [[nodiscard]] virtual Poll poll_open() = 0;
  /// The next event, once the watch is open. Nothing: it is pending, unless has_ended(). An answer that cannot be decoded
  /// becomes one kError event, and a connection that is lost the end, as in Watch; so it throws std::bad_alloc only.
  [[nodiscard]] virtual std::optional<AnyWatchEvent> poll_next() = 0;
  /// True if an event is there already: poll_next() has neither to wait nor to decode.
  [[nodiscard]] virtual bool has_next() const noexcept = 0;
  /// True if there will be no further event.
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
  /// As that of AsyncList.
  [[nodiscard]] virtual Clock::TimePoint wake_at() const noexcept = 0;
};

/// The form of AnyListWatch that needs no thread. Nothing is sent before the first poll. What it returns may outlive it.
///
/// Thread safety: all methods may be called from any thread.
class AsyncListWatch {
 public:
  virtual ~AsyncListWatch() = default;
  /// Throws std::invalid_argument if a selector is malformed, and what the user's tweak of the options throws.
  [[nodiscard]] virtual std::unique_ptr<AsyncList> start_list(const ListOptions& options,
                                                              Poller poller) = 0;
  [[nodiscard]] virtual std::unique_ptr<AsyncWatch> start_watch(const ListOptions& options,
                                                                Poller poller) = 0;
  [[nodiscard]] virtual bool supports_watch_list() const = 0;
  /// That of the client; null if there is none.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const { return nullptr; }
  /// Returns when no call of user code is under way, and begins no other. Blocks for so long.
  virtual void join() noexcept {}
};

}  // namespace kube::detail
