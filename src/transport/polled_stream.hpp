// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"
#include "engine/polling.hpp"
#include <kube/transport/transport.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace kube {
class Runtime;
}

namespace kube::detail {

/// An exchange that can be polled (engine/polling.hpp) as well as read with blocking calls.
class PolledStream : public ResponseStream {
 public:
  /// Returns true once head() may be called. Throws like Transport::open().
  [[nodiscard]] virtual bool poll_head() = 0;
  /// Non-blocking read(): nothing while pending. Requires that there is a head.
  [[nodiscard]] virtual std::optional<std::string_view> poll_read() = 0;
};

/// A request that waits for credentials before it is sent (engine/polling.hpp). Must not outlive
/// its transport. Destroying it cancels the request.
class PendingRequest {
 public:
  virtual ~PendingRequest() = default;
  /// Sends the request and returns the exchange; null while pending. Throws TransportError,
  /// ConfigError.
  [[nodiscard]] virtual std::unique_ptr<PolledStream> poll() = 0;
};

/// Non-blocking form of a Transport.
///
/// Thread safety: all methods may be called from any thread.
class AsyncTransport {
 public:
  virtual ~AsyncTransport() = default;

  /// Sends the request without waiting for the response; `waker` is woken for all polls of the
  /// exchange. Returns null and leaves `request` unchanged if credentials would block. Throws
  /// TransportError, ConfigError.
  [[nodiscard]] virtual std::unique_ptr<PolledStream> try_start(HttpRequest& request,
                                                                std::weak_ptr<Waker> waker) = 0;
  /// Like try_start(), for credentials that would block. The poller has a scheduler.
  [[nodiscard]] virtual std::unique_ptr<PendingRequest> start(HttpRequest request,
                                                              const Poller& poller) = 0;
  /// The Runtime that it runs on, or null.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const noexcept { return nullptr; }
};

}  // namespace kube::detail
