// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "negotiated_send.hpp"
#include "request.hpp"
#include "watch_stream.hpp"

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/watch_event.hpp>

#include <memory>
#include <optional>

namespace kube::detail {

/// A watch that is being opened, and then read. See ResourceCore::watch() and engine/polling.hpp.
class WatchOperation {
 public:
  /// ResourceCore::start_watch() makes it.
  WatchOperation(ResourceCore resource, Request request, Poller poller);
  WatchOperation(const WatchOperation&) = delete;
  WatchOperation& operator=(const WatchOperation&) = delete;

  /// Poll::kReady once the watch is open. Throws as ResourceCore::watch().
  [[nodiscard]] Poll poll_open();
  /// See WatchOfStream::poll_next().
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next() { return watch_->poll_next(); }
  [[nodiscard]] bool has_next() const noexcept { return watch_ && watch_->has_next(); }
  [[nodiscard]] bool has_ended() const noexcept { return watch_ && watch_->has_ended(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// The watch, once it is open, for one who reads it with blocking calls.
  [[nodiscard]] std::unique_ptr<WatchCore> take() noexcept { return std::move(watch_); }
  [[nodiscard]] TransportError canceled() const { return opening_->sending.canceled(); }

 private:
  /// Needed until the watch is open.
  struct Opening {
    ResourceCore resource;
    Request request;
    Poller poller;
    NegotiatedSend sending;

    Opening(ResourceCore of, Request asked, Poller by);
  };

  std::unique_ptr<Opening> opening_;
  std::unique_ptr<WatchOfStream> watch_;
};

}  // namespace kube::detail
