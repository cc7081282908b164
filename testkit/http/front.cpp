// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/front.hpp"

#include "testkit/http/connection.hpp"
#include "testkit/http/tls_context.hpp"

#include <kube/base/error.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

/// Sets close-on-exec: a child process would keep the port in use, and connections open.
void set_close_on_exec(int socket) { ::fcntl(socket, F_SETFD, FD_CLOEXEC); }

/// This many connections beyond the limit get a response with the reason; further ones are just
/// closed.
constexpr std::size_t kMaxRefusalReplies = 64;
constexpr std::chrono::milliseconds kRefusalTimeout{2000};

/// Responds with 503 to all requests of a connection beyond the limit.
class FullService final : public Service {
 public:
  explicit FullService(std::size_t limit) : limit_(limit) {}
  void serve(ServerRequest /*request*/, std::function<void(Reply)> done) override {
    Reply reply = status_reply(
        503, "ServiceUnavailable",
        fmt::format("the server has {} connections open and takes no more; close some, or start "
                    "it with a higher limit (kubecxx serve --max-connections, "
                    "ApiServerOptions::max_connections)",
                    limit_));
    reply.headers.push_back({"Retry-After", "1"});
    done(std::move(reply));
  }

 private:
  const std::size_t limit_;
};

}  // namespace

class HttpFront::Impl {
 private:
  struct Worker {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::jthread thread{};
  };

 public:
  Impl(Service& service, FrontOptions options)
      : service_(service),
        options_(std::move(options)),
        counters_(options_.counters != nullptr ? *options_.counters : own_counters_),
        full_(options_.max_connections),
        workers_(static_cast<std::size_t>(std::max(options_.threads, 1))),
        acceptor_(workers_.front().context),
        retry_(workers_.front().context) {
    if (!options_.tls.certificate.empty())
      tls_.emplace(make_tls_context(options_.tls, options_.limits.http2));
    listen();
    accept();
    try {
      for (Worker& worker : workers_) {
        worker.thread = std::jthread{[this, &worker] { run(worker.context); }};
      }
    } catch (...) {
      stop();  // threads that have started would never end
      throw;
    }
  }
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard guard{mutex_};
    return connections_.size();
  }

  void drop_connections() {
    for (const auto& connection : all()) connection->abort();
  }

  void drain(std::chrono::milliseconds grace) {
    asio::post(workers_.front().context, [this] { close_acceptor(); });
    for (const auto& connection : all()) connection->drain();
    std::unique_lock lock{mutex_};
    closed_.wait_for(lock, grace, [this] { return connections_.empty(); });
  }

  void stop() {
    for (Worker& worker : workers_) worker.context.stop();
    for (Worker& worker : workers_) {
      if (worker.thread.joinable()) worker.thread.join();
    }
    // No handler or timer can run any more, so the remaining connections can be destroyed from this
    // thread.
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    while (!connections_.empty()) {
      const auto node = connections_.extract(connections_.begin());
      node.mapped()->teardown();
    }
  }

 private:
  void listen() {
    boost::system::error_code error;
    const auto address = asio::ip::make_address(options_.address, error);
    if (error) throw Error(fmt::format("{}: not an IP address", options_.address));
    const tcp::endpoint endpoint{address, options_.port};
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) set_close_on_exec(acceptor_.native_handle());
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw Error(fmt::format("cannot listen on {}:{}: {}", options_.address, options_.port,
                              error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
  }

  void run(asio::io_context& context) noexcept {
    for (;;) {
      try {
        context.run();
        return;
      } catch (...) {
        recover();
      }
    }
  }

  /// Memory has run out inside Asio, and a handler was lost. It is unknown which, so every
  /// connection is broken: clients reconnect instead of waiting forever.
  void recover() noexcept {
    const std::lock_guard guard{mutex_};
    for (const auto& [key, connection] : connections_) connection->break_off();
    for (int attempt = 0; attempt < 1000 && accept_pending_.expired(); ++attempt) {
      try {
        const auto pending = std::make_shared<char>();
        asio::post(workers_.front().context, [this, pending] { accept_again(); });
        accept_pending_ = pending;
      } catch (...) {
        std::this_thread::yield();
      }
    }
  }

  void accept() {
    const auto pending = std::make_shared<char>();
    asio::io_context& context = workers_[next_worker_++ % workers_.size()].context;
    acceptor_.async_accept(
        context,
        [this, &context, pending](const boost::system::error_code& error, tcp::socket socket) {
          if (!acceptor_.is_open()) return;
          if (!error) {
            set_close_on_exec(socket.native_handle());
            start_connection(std::move(socket), context.get_executor());
            return accept_again();
          }
          // Possibly out of file descriptors: do not spin.
          options_.logger.warning("cannot accept a connection, will retry: {}", error.message());
          retry_accept();
        });
    const std::lock_guard guard{mutex_};
    accept_pending_ = pending;
  }

  void accept_again() {
    if (!acceptor_.is_open()) return;
    try {
      accept();
    } catch (const std::exception& error) {
      options_.logger.warning("cannot accept connections, will retry: {}", error.what());
      retry_accept();
    }
  }

  void retry_accept() {
    const auto pending = std::make_shared<char>();
    retry_.expires_after(std::chrono::milliseconds{20});
    retry_.async_wait([this, pending](const boost::system::error_code& canceled) {
      if (!canceled) accept_again();
    });
    const std::lock_guard guard{mutex_};
    accept_pending_ = pending;
  }

  /// Closes the connection if memory runs out.
  void start_connection(tcp::socket socket, const Strand& strand) noexcept {
    std::shared_ptr<Connection> connection;
    try {
      const std::size_t open = connections();
      const bool full = open >= options_.max_connections;
      if (full && counters_.connections++ == 0) {
        options_.logger.warning(
            "the limit of {} open connections is reached; further connections are refused", open);
      }
      if (open >= options_.max_connections + kMaxRefusalReplies) return;
      ConnectionLimits limits = options_.limits;
      if (full) limits.head_timeout = limits.body_timeout = limits.idle_timeout = kRefusalTimeout;
      boost::system::error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      auto stream = tls_ ? make_tls_stream(std::move(socket), strand, *tls_)
                         : make_plain_stream(std::move(socket), strand);
      connection = std::make_shared<Connection>(
          std::move(stream), strand, full ? static_cast<Service&>(full_) : service_, limits,
          counters_, [this](Connection& closed) { forget(closed); });
      {
        const std::lock_guard guard{mutex_};
        connections_.emplace(connection.get(), connection);
      }
      connection->start();
    } catch (...) {
      if (connection) forget(*connection);
    }
  }

  void forget(Connection& connection) {
    const std::lock_guard guard{mutex_};
    connections_.erase(&connection);
    closed_.notify_all();
  }

  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::shared_ptr<Connection>> list;
    for (const auto& [key, connection] : connections_) list.push_back(connection);
    return list;
  }

  void close_acceptor() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  }

  Service& service_;
  const FrontOptions options_;
  FrontCounters own_counters_;
  FrontCounters& counters_;
  FullService full_;
  std::optional<asio::ssl::context> tls_;
  /// One io_context per thread, with each connection on one of them. Asio's strands, which would
  /// allow threads to share a context, do not survive allocation failures.
  std::deque<Worker> workers_;
  std::size_t next_worker_ = 0;  // used only while accepting
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable closed_;
  // Guarded by mutex_:
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  /// Expired when no pending handler will accept again.
  std::weak_ptr<char> accept_pending_;
};

HttpFront::HttpFront(Service& service, FrontOptions options)
    : impl_(std::make_unique<Impl>(service, std::move(options))) {}
HttpFront::~HttpFront() = default;
std::uint16_t HttpFront::port() const noexcept { return impl_->port(); }
std::size_t HttpFront::connections() const { return impl_->connections(); }
void HttpFront::drop_connections() { impl_->drop_connections(); }
void HttpFront::drain(std::chrono::milliseconds grace) { impl_->drain(grace); }
void HttpFront::stop() { impl_->stop(); }

}  // namespace kube::testkit::detail
