// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/config/credentials.hpp>
#include <kube/transport/http_transport.hpp>

#include <chrono>
#include <memory>

#include "byte_stream.hpp"
#include "exchange.hpp"
#include "origin.hpp"
#include "socket.hpp"

namespace kube::detail {

/// Time from the start until each step was done.
struct DialTimes {
  std::chrono::microseconds resolved{0};
  std::chrono::microseconds connected{0};
  std::chrono::microseconds secured{0};
};

/// Establishes one connection without blocking. Destroying it cancels the attempt. Used on the
/// loop's thread.
class Dial {
 public:
  using TimePoint = Clock::TimePoint;

  Dial() = default;
  virtual ~Dial() = default;
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// Continues as far as possible. Returns true once the connection is established. Throws
  /// TransportError, also on timeout.
  [[nodiscard]] virtual bool advance(TimePoint now) = 0;
  /// Subscribes to the events that advance() waits for.
  virtual void wait() noexcept = 0;
  /// Extends the deadlines by the time that the loop did not run, which is not the peer's fault.
  virtual void extend_deadlines(Clock::Duration stall) noexcept = 0;
  /// Returns when advance() must be called even if no socket is ready.
  [[nodiscard]] virtual TimePoint next_step() const = 0;
  /// The TLS material used for the connection.
  [[nodiscard]] virtual const std::shared_ptr<const TlsMaterial>& material() const noexcept = 0;

  // Valid once the connection is established:
  [[nodiscard]] virtual bool negotiated_http2() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ByteStream> take_stream() = 0;
  [[nodiscard]] virtual const DialTimes& times() const noexcept = 0;
};

/// Connections and time for a HttpDispatcher. Tests replace it with a script, so that every order
/// of events can be enumerated in one thread.
class Network {
 public:
  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Throws TransportError.
  [[nodiscard]] virtual std::unique_ptr<Dial> dial(std::shared_ptr<const TlsMaterial> material) = 0;
  /// Discards the TLS context, so that the next dial makes a new one. A context made while memory
  /// was short may lack ciphers or trusted certificates, and OpenSSL does not report that.
  virtual void renew_tls() noexcept = 0;
  [[nodiscard]] virtual const Clock& clock() const noexcept = 0;
};

/// Makes the network of the machine. All references must outlive it. The mailbox is nudged when a
/// lookup is done.
[[nodiscard]] std::unique_ptr<Network> make_socket_network(const Origin& origin,
                                                           const TransportOptions& options,
                                                           std::shared_ptr<Mailbox> mailbox,
                                                           const SocketWatcher& watcher);

}  // namespace kube::detail
