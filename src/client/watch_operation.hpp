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

/// Opens a watch and reads its events. See ResourceCore::watch() and engine/polling.hpp.
class WatchOperation {
 public:
  /// Use ResourceCore::start_watch().
  WatchOperation(ResourceCore resource, Request request, Poller poller);
  WatchOperation(const WatchOperation&) = delete;
  WatchOperation& operator=(const WatchOperation&) = delete;

  /// Returns Poll::kReady once the watch is open. Throws like ResourceCore::watch().
  [[nodiscard]] Poll poll_open();
  /// See WatchOfStream::poll_next().
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next() { return watch_->poll_next(); }
  [[nodiscard]] bool has_next() const noexcept { return watch_ && watch_->has_next(); }
  [[nodiscard]] bool has_ended() const noexcept { return watch_ && watch_->has_ended(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// Returns the open watch, to be read with blocking calls.
  [[nodiscard]] std::unique_ptr<WatchCore> take() noexcept { return std::move(watch_); }
  [[nodiscard]] TransportError canceled() const { return opening_->sending.canceled(); }

 private:
  /// State needed until the watch is open.
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
