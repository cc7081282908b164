// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

#include <chrono>
#include <memory>
#include <optional>

#include "network.hpp"
#include "origin.hpp"
#include "resolver.hpp"
#include "tcp_connect.hpp"
#include "tls_stream.hpp"
#include "tunnel.hpp"

namespace kube::detail {

/// Establishes a connection over sockets in steps: name resolution, TCP, proxy, TLS.
class SocketDial final : public Dial {
 public:
  /// `context` is needed only for TLS. All references must outlive it.
  SocketDial(const Origin& origin, const TransportOptions& options,
             std::shared_ptr<const TlsMaterial> material, std::shared_ptr<SSL_CTX> context,
             Resolver& resolver, const SocketWatcher& watcher);

  [[nodiscard]] bool advance(TimePoint now) override;
  void wait() noexcept override;
  void extend_deadlines(Clock::Duration stall) noexcept override;
  [[nodiscard]] TimePoint next_step() const override;
  [[nodiscard]] const std::shared_ptr<const TlsMaterial>& material() const noexcept override {
    return material_;
  }
  [[nodiscard]] bool negotiated_http2() const override {
    return tls_ != nullptr && tls_->negotiated_http2();
  }
  [[nodiscard]] std::unique_ptr<ByteStream> take_stream() override { return std::move(stream_); }
  [[nodiscard]] const DialTimes& times() const noexcept override { return times_; }

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
  const SocketWatcher& watcher_;
  const std::shared_ptr<const Lookup> lookup_;
  const TimePoint started_;
  TimePoint connect_deadline_;
  TimePoint tls_started_{};
  TimePoint tls_deadline_ = TimePoint::max();
  Step step_ = Step::kLookup;
  std::optional<TcpConnect> connect_;
  std::unique_ptr<Tunnel> tunnel_;
  std::unique_ptr<ByteStream> stream_;
  TlsStream* tls_ = nullptr;  // the top layer of stream_, if that is TLS
  DialTimes times_;
};

}  // namespace kube::detail
