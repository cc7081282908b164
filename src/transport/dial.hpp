// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/config/credentials.hpp>
#include <kube/transport/http_transport.hpp>

#include <openssl/types.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "byte_stream.hpp"
#include "origin.hpp"
#include "resolver.hpp"
#include "tcp_connect.hpp"
#include "tls_stream.hpp"
#include "tunnel.hpp"

namespace kube::detail {

/// How long it took from the beginning until a step was done.
struct DialTimes {
  std::chrono::microseconds resolved{0};
  std::chrono::microseconds connected{0};
  std::chrono::microseconds secured{0};
};

/// Makes one connection, step by step: name, TCP, proxy, TLS. Never waits; whoever gives it up destroys it.
/// Belongs to the loop's thread.
class Dial {
 public:
  using TimePoint = Clock::TimePoint;

  /// `context` is only needed where there is TLS. All that is given by reference must outlive it.
  Dial(const Origin& origin, const TransportOptions& options,
       std::shared_ptr<const TlsMaterial> material, std::shared_ptr<SSL_CTX> context,
       Resolver& resolver);

  /// Goes on as far as it can; returns true once the connection stands. Throws TransportError, also when it
  /// has taken too long.
  [[nodiscard]] bool advance(TimePoint now);
  /// Adds the sockets that it waits for.
  void watch(std::vector<pollfd>& sockets) const;
  /// When advance() has something to do though no socket is ready.
  [[nodiscard]] TimePoint next_step() const;

  [[nodiscard]] const std::shared_ptr<const TlsMaterial>& material() const noexcept {
    return material_;
  }

  // Once it stands:
  [[nodiscard]] bool negotiated_http2() const {
    return tls_ != nullptr && tls_->negotiated_http2();
  }
  [[nodiscard]] std::unique_ptr<ByteStream> take_stream() { return std::move(stream_); }
  [[nodiscard]] const DialTimes& times() const noexcept { return times_; }

 private:
  enum class Step { kLookup, kConnect, kProxyTls, kTunnel, kTls, kDone };

  /// Each returns whether its step is done.
  bool look_up();
  bool connect(TimePoint now);
  bool tunnel();
  void begin_tls(Step step);
  void begin_server();
  [[nodiscard]] bool in_tls() const noexcept {
    return step_ == Step::kProxyTls || step_ == Step::kTls;
  }
  [[nodiscard]] TimePoint deadline() const noexcept {
    return in_tls() ? tls_deadline_ : connect_deadline_;
  }
  [[nodiscard]] TransportError timeout_error() const;
  [[nodiscard]] std::chrono::microseconds elapsed() const;

  const Origin& origin_;
  const TransportOptions& options_;
  const std::shared_ptr<const TlsMaterial> material_;
  const std::shared_ptr<SSL_CTX> context_;
  const std::shared_ptr<const Lookup> lookup_;
  const TimePoint started_;
  TimePoint connect_deadline_;
  TimePoint tls_started_{};
  TimePoint tls_deadline_ = TimePoint::max();
  Step step_ = Step::kLookup;
  std::optional<TcpConnect> connect_;
  std::unique_ptr<Tunnel> tunnel_;
  std::unique_ptr<ByteStream> stream_;
  TlsStream* tls_ = nullptr;  // the uppermost layer of stream_, if that is one
  DialTimes times_;
};

}  // namespace kube::detail
