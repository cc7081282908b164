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

/// How long it took from the beginning until a step was done.
struct DialTimes {
  std::chrono::microseconds resolved{0};
  std::chrono::microseconds connected{0};
  std::chrono::microseconds secured{0};
};

/// Makes one connection, without ever waiting. Destroying it gives the attempt up. Belongs to the loop's thread.
class Dial {
 public:
  using TimePoint = Clock::TimePoint;

  Dial() = default;
  virtual ~Dial() = default;
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// Goes on as far as it can; returns true once the connection stands. Throws TransportError, also when it
  /// has taken too long.
  [[nodiscard]] virtual bool advance(TimePoint now) = 0;
  /// Has the loop tell when advance() has something to do.
  virtual void wait() noexcept = 0;
  /// Nobody ran the loop for that long, which is not the peer's fault.
  virtual void forgive(Clock::Duration stall) noexcept = 0;
  /// When advance() has something to do though no socket is ready.
  [[nodiscard]] virtual TimePoint next_step() const = 0;
  /// The credentials that it connects with.
  [[nodiscard]] virtual const std::shared_ptr<const TlsMaterial>& material() const noexcept = 0;

  // Once it stands:
  [[nodiscard]] virtual bool negotiated_http2() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ByteStream> take_stream() = 0;
  [[nodiscard]] virtual const DialTimes& times() const noexcept = 0;
};

/// The system as a HttpDispatcher uses it: connections and time. Tests replace it by a script, so that every order of
/// events can be enumerated in one thread.
class Network {
 public:
  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Throws TransportError.
  [[nodiscard]] virtual std::unique_ptr<Dial> dial(std::shared_ptr<const TlsMaterial> material) = 0;
  /// Makes the TLS context anew for the next dial: OpenSSL does not say that one which was made while memory was short
  /// lacks ciphers, or certificates that it trusts.
  virtual void renew_tls() noexcept = 0;
  [[nodiscard]] virtual const Clock& clock() const noexcept = 0;
};

/// The network of the machine. All that is given by reference must outlive it; the mailbox is nudged when a lookup is
/// done.
[[nodiscard]] std::unique_ptr<Network> make_socket_network(const Origin& origin,
                                                           const TransportOptions& options,
                                                           std::shared_ptr<Mailbox> mailbox,
                                                           const SocketWatcher& watcher);

}  // namespace kube::detail
