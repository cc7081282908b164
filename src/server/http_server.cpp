// SPDX-License-Identifier: Apache-2.0
#include "http_server.hpp"

#include "engine/descriptor.hpp"
#include "engine/job.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/base/condition.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "connection.hpp"
#include "listener.hpp"

namespace kube::server {
namespace {

/// How long no connection is accepted after a lack of memory or descriptors.
constexpr std::chrono::milliseconds kRest{20};
/// Interval at which loops that the program runs are checked.
constexpr std::chrono::milliseconds kLookAgain{1};
/// Connections accepted at once, so that existing ones have their turn.
constexpr int kAcceptedAtOnce = 16;
/// This many connections beyond the limit get a response with the reason; further ones are just
/// closed.
constexpr std::size_t kMaxRefusalReplies = 64;
/// The time limit of such a connection.
constexpr std::chrono::milliseconds kRefusalTimeout{2000};
constexpr std::chrono::seconds kReloadInterval{10};

}  // namespace

/// Accepts connections, and knows them all.
class HttpServer::Acceptor final : public detail::Job {
 public:
  Acceptor(HttpServerOptions options, Handler& handler)
      : Job(detail::Placement::kLoop),
        options_(std::move(options)),
        handler_(handler),
        listener_(listen_on(options_.address)),
        rest_timer_(options_.loops.front(), system_clock()) {
    bind(options_.loops.front());
  }

  [[nodiscard]] std::string address() const { return local_address(listener_.get()); }
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard guard{mutex_};
    return connections_.size();
  }

  void drop_connections() noexcept {
    const std::lock_guard guard{mutex_};
    for (const auto& [number, connection] : connections_) connection->abort();
  }

  void drain(std::chrono::milliseconds grace) {
    state_ = State::kDraining;
    schedule();
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, grace, [this] { return !listens_ && connections_.empty(); });
  }

  void stop() noexcept {
    state_ = State::kStopped;
    schedule();
    while (!has_ended_within(kLookAgain)) {
      for (const auto& loop : options_.loops) {
        if (loop->loop().is_here()) {
          close_all(*loop);
        } else if (loop->is_without_threads()) {
          // The program may have stopped running its loop.
          (void)loop->loop().call_if_idle([&] { close_all(*loop); });
        }
      }
    }
  }

 private:
  enum class State { kAccepting, kDraining, kStopped };

  void run() noexcept override {
    if (state_ != State::kAccepting) return end();
    try {
      if (!listening_) {
        listening_.emplace(scheduler()->loop(), listener_.get(), weak_from_this());
      }
      if (listening_->take_events() != 0 && !is_resting()) accept_some();
    } catch (const std::exception& error) {
      if (!std::exchange(failing_, true)) {
        options_.log.warning("{} cannot accept connections, and tries again: {}", options_.address,
                             error.what());
      }
      make_room();
    }
    if (listening_) listening_->wait_for(is_resting() ? 0 : POLLIN);
    rest_timer_.set(is_resting() ? rest_until_ : Clock::TimePoint::max(), weak_from_this());
  }

  /// Accepts no more connections, and ends all that there are.
  void end() noexcept {
    {
      const std::lock_guard guard{mutex_};
      for (const auto& [number, connection] : connections_) {
        if (state_ == State::kDraining) {
          connection->drain();
        } else {
          connection->abort();
        }
      }
    }
    close_listener();
  }

  void close_listener() noexcept {
    listening_.reset();
    listener_.reset();
    rest_timer_.cancel();
    {
      const std::lock_guard guard{mutex_};
      listens_ = false;
    }
    changed_.notify_all();
  }

  /// Closes what belongs to one loop, in the role of its thread.
  void close_all(detail::Scheduler& loop) noexcept {
    if (scheduler().get() == &loop) close_listener();
    for (;;) {
      std::shared_ptr<Connection> next;
      {
        const std::lock_guard guard{mutex_};
        for (const auto& [number, connection] : connections_) {
          if (connection->scheduler().get() == &loop) next = connection;
        }
      }
      if (!next) return;
      next->close();
    }
  }

  [[nodiscard]] bool has_ended_within(std::chrono::nanoseconds limit) noexcept {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [this] { return !listens_ && connections_.empty(); });
  }

  [[nodiscard]] bool is_resting() const noexcept { return system_clock().now() < rest_until_; }

  /// Called after a lack of memory or descriptors.
  void make_room() noexcept {
    rest_until_ = system_clock().now() + kRest;
    if (options_.limits.when_full == Limits::WhenFull::kReplaceOldest && replace_oldest()) {
      handler_.on_incident(Incident::kCrowded);
    }
  }

  void accept_some() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      detail::FileDescriptor socket{
          ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket) {
        admit(std::move(socket));
        failing_ = false;
      } else if (errno == EAGAIN) {
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        throw std::system_error(errno, std::generic_category());  // usually a lack of descriptors
      }
    }
  }

  void admit(detail::FileDescriptor socket) {
    Limits limits = options_.limits;
    const std::size_t open = active_connections();
    const bool full = open >= limits.max_connections;
    const bool refuses = full && limits.when_full == Limits::WhenFull::kRefuseNew;
    if (full) {
      handler_.on_incident(Incident::kCrowded);
      if (!std::exchange(warned_, true)) {
        options_.log.warning("{} has {} open connections, its limit; {}", options_.address, open,
                             refuses ? "further ones are refused" : "the oldest is closed");
      }
      if (!refuses) (void)replace_oldest();
      if (refuses && open >= limits.max_connections + kMaxRefusalReplies) return;
    }
    if (refuses) limits.head_timeout = limits.body_timeout = limits.idle_timeout = kRefusalTimeout;
    const auto& loop = options_.loops[next_number_ % options_.loops.size()];
    auto connection = std::make_shared<Connection>(
        Connection::Setup{
            .socket = std::move(socket),
            .tls = options_.certificate ? options_.certificate->context() : nullptr,
            .limits = limits,
            .handler = handler_,
            .clock = *options_.clock,
            .refuses = refuses,
            .number = next_number_++,
            .on_closed = [self = weak_of_self()](const Connection& closed) {
              if (const auto acceptor = self.lock()) acceptor->forget(closed);
            }},
        loop);
    {
      const std::lock_guard guard{mutex_};
      connections_.emplace(connection->number(), connection);
    }
    connection->schedule();
  }

  [[nodiscard]] std::weak_ptr<Acceptor> weak_of_self() {
    return std::static_pointer_cast<Acceptor>(shared_from_this());
  }

  /// The number of connections that were not told to end.
  [[nodiscard]] std::size_t active_connections() const {
    const std::lock_guard guard{mutex_};
    return connections_.size() - replaced_;
  }

  /// Returns false if there is none.
  bool replace_oldest() noexcept {
    const std::lock_guard guard{mutex_};
    for (const auto& [number, connection] : connections_) {
      if (connection->is_leaving()) continue;
      ++replaced_;
      connection->replace();
      return true;
    }
    return false;
  }

  void forget(const Connection& closed) noexcept {
    {
      const std::lock_guard guard{mutex_};
      if (connections_.erase(closed.number()) == 0) return;
      if (closed.is_replaced()) --replaced_;
    }
    changed_.notify_all();
  }

  const HttpServerOptions options_;
  Handler& handler_;
  std::atomic<State> state_ = State::kAccepting;

  // Used on the first loop's thread only:
  detail::FileDescriptor listener_;
  std::optional<detail::Descriptor> listening_;
  detail::Timer rest_timer_;
  Clock::TimePoint rest_until_{};  // no connection is accepted before
  std::uint64_t next_number_ = 0;
  bool warned_ = false;   // that there are too many connections
  bool failing_ = false;  // no connection was accepted since an error

  mutable std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  bool listens_ = true;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;  // by number: oldest first
  std::size_t replaced_ = 0;  // connections that newer ones have replaced, but that are not closed
};

/// Reads the files of a certificate again, from time to time.
class HttpServer::Reloader final : public detail::Job {
 public:
  Reloader(std::shared_ptr<Certificate> certificate, Clock& clock,
           const std::shared_ptr<detail::Scheduler>& loop)
      : Job(detail::Placement::kBlocking),
        certificate_(std::move(certificate)),
        clock_(clock),
        timer_(loop, clock) {
    bind(loop);
  }

  void start() noexcept { timer_.set(clock_.now() + kReloadInterval, weak_from_this()); }

 private:
  [[nodiscard]] std::string_view name() const noexcept override { return "server certificate"; }
  void run() noexcept override {
    certificate_->reload();
    start();
  }

  const std::shared_ptr<Certificate> certificate_;
  Clock& clock_;
  detail::Timer timer_;
};

HttpServer::HttpServer(HttpServerOptions options, Handler& handler)
    : acceptor_(std::make_shared<Acceptor>(options, handler)),
      reloader_(options.certificate && options.certificate->has_files()
                    ? std::make_shared<Reloader>(options.certificate, *options.clock,
                                                 options.loops.front())
                    : nullptr),
      address_(acceptor_->address()) {
  acceptor_->schedule();
  if (reloader_) reloader_->start();
}

HttpServer::~HttpServer() { acceptor_->stop(); }

std::size_t HttpServer::connections() const { return acceptor_->connections(); }
void HttpServer::drop_connections() noexcept { acceptor_->drop_connections(); }
void HttpServer::drain(std::chrono::milliseconds grace) { acceptor_->drain(grace); }

}  // namespace kube::server
