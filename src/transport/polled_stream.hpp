// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"
#include <kube/transport/transport.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace kube {
class Runtime;
}

namespace kube::detail {

/// An exchange that can be polled (engine/polling.hpp) as well as read with blocking calls.
class PolledStream : public ResponseStream {
 public:
  /// True once head() may be called. Throws as Transport::open().
  [[nodiscard]] virtual bool poll_head() = 0;
  /// read() without waiting: nothing while it is pending. To be called once there is a head.
  [[nodiscard]] virtual std::optional<std::string_view> poll_read() = 0;
};

/// The form of a Transport that need not block.
///
/// Thread safety: all methods may be called from any thread.
class AsyncTransport {
 public:
  virtual ~AsyncTransport() = default;

  /// Sends the request and does not wait for the answer; `waker` is for all polls of the exchange. It may block all the same:
  /// credentials may have to run a plugin. Throws TransportError, ConfigError.
  [[nodiscard]] virtual std::unique_ptr<PolledStream> start(HttpRequest request,
                                                            std::weak_ptr<Waker> waker,
                                                            std::stop_token stop) = 0;
  /// The same, or null, with `request` left as it was, if that would block.
  [[nodiscard]] virtual std::unique_ptr<PolledStream> try_start(HttpRequest& request,
                                                                std::weak_ptr<Waker> waker) = 0;
  /// The one that it runs on, or null.
  [[nodiscard]] virtual std::shared_ptr<Runtime> runtime() const noexcept { return nullptr; }
};

}  // namespace kube::detail
