// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/front.hpp"

#include "testkit/http/websocket.hpp"

#include "base/ip_address.hpp"
#include "base/no_wait.hpp"
#include "engine/scheduler.hpp"
#include "engine/thread.hpp"
#include "server/http_server.hpp"
#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace kube::testkit::detail {
namespace {

using kube::detail::Scheduler;

/// An event loop and the thread that runs it.
class LoopThread {
 public:
  explicit LoopThread(const Logger& log)
      : scheduler_(
            std::make_shared<Scheduler>(kube::detail::WorkerPoolOptions{.threads = 0}, log)) {}
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
    scheduler_->close();
  }

  void start() {
    thread_ = kube::detail::make_thread(
        "testkit-http",
        [scheduler = scheduler_, stop = stop_.get_token()] { scheduler->loop().run(stop); });
  }
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept { return scheduler_; }

 private:
  const std::shared_ptr<Scheduler> scheduler_;
  std::stop_source stop_;
  std::thread thread_;
};

std::string listen_address(const FrontOptions& options) {
  if (!kube::detail::parse_ip_address(options.address)) {
    throw Error(fmt::format("{}: not an IP address", options.address));
  }
  return fmt::format("{}:{}", kube::detail::bracketed(options.address), options.port);
}

std::optional<PeerCertificate> identity_of(const server::Peer& peer) {
  if (!peer.certificate) return std::nullopt;
  return PeerCertificate{peer.certificate->common_name, peer.certificate->organizations};
}

std::shared_ptr<server::Certificate> certificate_of(const FrontOptions& options) {
  if (options.tls.certificate.empty()) return nullptr;
  return std::make_shared<server::Certificate>(TlsConfig{.ca_data = options.tls.client_ca,
                                                         .certificate_data =
                                                             options.tls.certificate,
                                                         .key_data = options.tls.key},
                                               options.limits.http2);
}

}  // namespace

class HttpFront::Impl final : public server::Handler {
 public:
  Impl(Service& service, FrontOptions options)
      : service_(service),
        counters_(options.counters != nullptr ? *options.counters : own_counters_) {
    server::HttpServerOptions settings{.address = listen_address(options),
                                       .certificate = certificate_of(options),
                                       .limits = options.limits,
                                       .log = options.logger};
    settings.limits.max_connections = options.max_connections;
    for (int i = 0; i < std::max(options.threads, 1); ++i) {
      settings.loops.push_back(loops_.emplace_back(options.logger).scheduler());
    }
    server_.emplace(std::move(settings), *this);
    for (LoopThread& loop : loops_) loop.start();
  }

  [[nodiscard]] server::HttpServer& http() noexcept { return *server_; }
  [[nodiscard]] std::uint16_t port() const {
    const std::string& address = server_->address();
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  void handle(server::Request request, server::Responder respond) override {
    std::optional<WebSocketHandshake> handshake;
    if (!request.http2 && asks_for_websocket(request.headers)) handshake.emplace(request.headers);
    auto answered = [http2 = request.http2, handshake = std::move(handshake),
                     respond = std::make_shared<server::Responder>(std::move(respond))](
                        Reply reply) mutable {
      // AU-1: an unauthenticated request ends the connection.
      if (http2 && reply.status == 401) reply.close = true;
      // WT-27: only watches are upgraded, as only they have a body of unlimited length.
      if (handshake && reply.source && reply.status == 200) upgrade(reply, *handshake);
      (*respond)(std::move(reply));
    };
    // Hooks of a test, which the engine calls, may wait.
    const kube::detail::NoWaitCode may_wait{false};
    service_.serve({.method = std::move(request.method),
                    .target = std::move(request.target),
                    .headers = std::move(request.headers),
                    .body = std::move(request.body),
                    .certificate = identity_of(*request.peer)},
                   std::move(answered));
  }
  [[nodiscard]] Reply refuse(server::Refusal why, const server::Limits& limits) const override {
    return refusal_reply(why, limits);
  }
  void on_incident(server::Incident incident) noexcept override { counters_.count(incident); }

 private:
  Service& service_;
  FrontCounters own_counters_;
  FrontCounters& counters_;
  /// One loop per thread, with each connection on one of them.
  std::deque<LoopThread> loops_;
  std::optional<server::HttpServer> server_;  // destroyed before the threads that serve it
};

HttpFront::HttpFront(Service& service, FrontOptions options)
    : impl_(std::make_unique<Impl>(service, std::move(options))) {}
HttpFront::~HttpFront() = default;
std::uint16_t HttpFront::port() const { return impl_->port(); }
std::size_t HttpFront::connections() const { return impl_->http().connections(); }
void HttpFront::drop_connections() { impl_->http().drop_connections(); }
void HttpFront::drain(std::chrono::milliseconds grace) { impl_->http().drain(grace); }

}  // namespace kube::testkit::detail
