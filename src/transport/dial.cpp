// SPDX-License-Identifier: Apache-2.0
#include "dial.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dial_error.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

Clock::TimePoint after(Clock::TimePoint start, std::chrono::milliseconds limit) {
  return limit.count() == 0 ? Clock::TimePoint::max() : start + limit;
}

}  // namespace

SocketDial::SocketDial(const Origin& origin, const TransportOptions& options,
                       std::shared_ptr<const TlsMaterial> material,
                       std::shared_ptr<SSL_CTX> context, Resolver& resolver,
                       const SocketWatcher& watcher)
    : origin_(origin),
      options_(options),
      material_(std::move(material)),
      context_(std::move(context)),
      watcher_(watcher),
      lookup_(resolver.look_up()),
      started_(system_clock().now()),
      connect_deadline_(after(started_, options_.connect_timeout)) {}

bool SocketDial::advance(TimePoint now) {
  bool moves = true;
  while (moves && step_ != Step::kDone) {
    switch (step_) {
      case Step::kLookup:
        moves = look_up();
        break;
      case Step::kConnect:
        moves = connect(now);
        break;
      case Step::kTunnel:
        moves = tunnel();
        break;
      case Step::kProxyTls:
        moves = tls_->handshake();
        if (!moves) break;
        // The time of the TLS handshake does not count towards the proxy's time to reply.
        if (options_.connect_timeout.count() != 0) connect_deadline_ += now - tls_started_;
        step_ = Step::kTunnel;
        break;
      case Step::kTls:
        moves = tls_->handshake();
        if (!moves) break;
        times_.secured = elapsed();
        step_ = Step::kDone;
        break;
      case Step::kDone:
        break;
    }
  }
  if (step_ == Step::kDone) return true;
  if (now >= deadline()) throw timeout_error();
  return false;
}

bool SocketDial::look_up() {
  if (!lookup_->done) return false;
  times_.resolved = elapsed();
  if (lookup_->error != 0) throw lookup_failed(origin_, lookup_->error_text());
  connect_.emplace(lookup_->addresses, options_, watcher_);
  step_ = Step::kConnect;
  return true;
}

bool SocketDial::connect(TimePoint now) {
  Socket socket = connect_->advance(now);
  if (!socket) {
    if (connect_->failed()) throw connect_failed(origin_, connect_->error(), connect_->failures());
    return false;
  }
  connect_.reset();
  times_.connected = elapsed();
  stream_ = std::make_unique<SocketStream>(std::move(socket), origin_.name);
  if (!origin_.proxy) {
    begin_server();
    return true;
  }
  tunnel_ = make_tunnel(origin_);
  step_ = Step::kTunnel;
  if (origin_.proxy->scheme == "https") begin_tls(Step::kProxyTls);
  return true;
}

bool SocketDial::tunnel() {
  const auto closed = [&](std::string_view detail) {
    return proxy_refused(origin_, "the proxy refuses; check proxy-url or HTTPS_PROXY", detail);
  };
  try {
    while (true) {
      while (!tunnel_->output().empty()) {
        const std::size_t sent = stream_->send(tunnel_->output());
        if (sent == 0) return false;
        tunnel_->sent(sent);
      }
      std::array<char, 4096> buffer;
      std::size_t size = 0;
      const ByteStream::Result result = stream_->receive(buffer, size);
      if (result == ByteStream::Result::kAgain) return false;
      if (result == ByteStream::Result::kEnd) throw closed("it closed the connection");
      if (tunnel_->receive({buffer.data(), size})) break;
    }
  } catch (const TransportError& error) {
    if (error.kind() != Kind::kConnectionLost) throw;
    throw closed(error.what());
  }
  tunnel_.reset();
  begin_server();
  return true;
}

/// Starts TLS or HTTP with the server.
void SocketDial::begin_server() {
  if (origin_.secure()) {
    begin_tls(Step::kTls);
  } else {
    tls_ = nullptr;
    step_ = Step::kDone;
  }
}

void SocketDial::begin_tls(Step step) {
  const bool to_proxy = step == Step::kProxyTls;
  const bool renamed = !to_proxy && !material_->server_name.empty();
  auto tls =
      std::make_unique<TlsStream>(std::move(stream_), *context_,
                                  TlsPeer{.place = origin_.name,
                                          .role = to_proxy ? "proxy" : "server",
                                          .host = to_proxy  ? origin_.proxy->host
                                                  : renamed ? material_->server_name
                                                            : origin_.server.host,
                                          .offer_http2 = !to_proxy && !options_.disable_http2,
                                          .show_certificate = !to_proxy});
  tls_ = tls.get();
  stream_ = std::move(tls);
  tls_started_ = system_clock().now();
  tls_deadline_ = after(tls_started_, options_.tls_handshake_timeout);
  step_ = step;
}

void SocketDial::wait() noexcept {
  if (connect_) return connect_->wait();
  if (stream_ == nullptr) return;  // a finished lookup nudges the mailbox
  const bool writes =
      stream_->wants_write() || (tunnel_ && !in_tls() && !tunnel_->output().empty());
  stream_->wait_for(writes ? POLLOUT : POLLIN);
}

void SocketDial::extend_deadlines(Clock::Duration stall) noexcept {
  if (connect_deadline_ != TimePoint::max()) connect_deadline_ += stall;
  if (tls_deadline_ != TimePoint::max()) tls_deadline_ += stall;
}

SocketDial::TimePoint SocketDial::next_step() const {
  if (step_ == Step::kLookup && lookup_->done) return started_;  // at once
  return connect_ ? std::min(deadline(), connect_->next_step()) : deadline();
}

TransportError SocketDial::timeout_error() const {
  const auto make = [&](std::string_view what, std::chrono::milliseconds limit,
                        std::string_view advice) {
    return TransportError(Kind::kConnect, fmt::format("{}: no {} within {} ms; {}", origin_.name,
                                                      what, limit.count(), advice));
  };
  constexpr std::string_view kRoutes = "check address, routes and firewalls";
  switch (step_) {
    case Step::kLookup:
      return make("answer about the host's name", options_.connect_timeout,
                  "check the name service");
    case Step::kProxyTls:
      return make("end of the TLS handshake with the proxy", options_.tls_handshake_timeout,
                  "does that port speak TLS?");
    case Step::kTunnel:
      return make("answer of the proxy", options_.connect_timeout,
                  "check proxy-url or HTTPS_PROXY");
    case Step::kTls:
      return make("end of the TLS handshake", options_.tls_handshake_timeout,
                  "does that port speak TLS?");
    default:
      return make(origin_.proxy ? "connection to the proxy" : "connection",
                  options_.connect_timeout, kRoutes);
  }
}

std::chrono::microseconds SocketDial::elapsed() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(system_clock().now() - started_);
}

}  // namespace kube::detail
