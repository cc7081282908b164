// SPDX-License-Identifier: Apache-2.0
#include "http_server.hpp"

#include "http_request.hpp"

#include "base/file_descriptor.hpp"
#include "engine/blocking_call.hpp"
#include "engine/descriptor.hpp"
#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/api/validation.hpp>
#include <kube/base/condition.hpp>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

namespace kube::detail {
namespace {

/// How long no connection is accepted after a lack of memory or descriptors.
constexpr std::chrono::milliseconds kRest{100};
/// Interval at which a loop that the program runs is checked.
constexpr std::chrono::milliseconds kLookAgain{1};
/// Bytes read and dropped after the response, so that closing does not reset the connection too
/// early.
constexpr std::size_t kMaxDrained = 65536;

FileDescriptor listen_on(const std::string& address) {
  const auto [host, port] = parse_listen_address(address);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error =
          getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    throw Error(fmt::format("cannot listen on {}: {}", quoted(address), gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, &freeaddrinfo};
  int error = 0;
  // Without a host, try IPv6 first: its socket serves IPv4 as well.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      if (one->ai_family != family) continue;
      FileDescriptor socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
      if (socket.get() < 0) {
        error = errno;
        continue;
      }
      const int on = 1;
      const int off = 0;
      setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (family == AF_INET6 && host.empty()) {
        setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      }
      if (bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 && listen(socket.get(), 64) == 0) {
        return socket;
      }
      error = errno;
    }
  }
  throw Error(fmt::format("cannot listen on {}: {}", quoted(address),
                          std::generic_category().message(error)));
}

std::string address_of(const FileDescriptor& socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&name), size, host.data(), host.size(), port.data(),
                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return name.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                    : fmt::format("{}:{}", host.data(), port.data());
}

/// A job that owns its own Runtime would keep it alive for ever.
HttpServerOptions without_runtime(HttpServerOptions options) {
  options.runtime = nullptr;
  return options;
}

}  // namespace

/// Serves the connections, whenever a socket, an answer or a timer is ready.
class HttpServer::Service final : public Job {
 public:
  Service(HttpServerOptions options, Answer answer, const std::shared_ptr<Scheduler>& scheduler)
      : Job(Placement::kLoop),
        options_(std::move(options)),
        answers_(std::make_shared<Answers>(std::move(answer), options_.log)),
        listener_(listen_on(options_.address)),
        timer_(std::in_place, scheduler, *options_.clock),
        rest_timer_(std::in_place, scheduler, system_clock()) {
    bind(scheduler);
  }
  [[nodiscard]] std::string address() const { return address_of(listener_); }

  /// Closes all connections, and returns when no answer is being computed.
  void stop() noexcept {
    stopping_ = true;
    schedule();
    EventLoop& loop = scheduler()->loop();
    if (loop.is_here()) shut_down();
    while (!has_ended_within(kLookAgain)) {
      // The program may have stopped running its loop.
      if (scheduler()->workers().is_without_threads()) {
        (void)loop.call_if_idle([this] { shut_down(); });
      }
    }
    answers_->wait();
  }

 private:
  /// Answers being computed: shared with workers, because a connection may be closed before its
  /// answer is ready.
  class Answers {
   public:
    Answers(Answer answer, Logger log) : answer_(std::move(answer)), log_(std::move(log)) {}

    /// Counts an answer that is being computed.
    class Open {
     public:
      explicit Open(std::shared_ptr<Answers> answers) : answers_(std::move(answers)) {
        const std::lock_guard guard{answers_->mutex_};
        ++answers_->open_;
      }
      Open(const Open&) = delete;
      Open& operator=(const Open&) = delete;
      ~Open() {
        {
          const std::lock_guard guard{answers_->mutex_};
          --answers_->open_;
        }
        answers_->changed_.notify_all();
      }
      [[nodiscard]] HttpReply reply(const std::string& path, const std::string& query) const {
        return answers_->reply(path, query);
      }

     private:
      const std::shared_ptr<Answers> answers_;
    };

    void wait() noexcept {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return open_ == 0; });
    }

   private:
    [[nodiscard]] HttpReply reply(const std::string& path, const std::string& query) const {
      try {
        return answer_(path, query);
      } catch (const std::exception& error) {
        log_.error("GET {}: {}", path, error.what());
      } catch (...) {
        log_.error("GET {}: the handler threw something that is no std::exception", path);
      }
      return {.status = 500, .body = "internal server error\n"};
    }

    const Answer answer_;
    const Logger log_;
    std::mutex mutex_;
    Condition changed_;
    std::size_t open_ = 0;  // guarded by mutex_
  };

  struct Connection {
    enum class State {
      kReading,    // reads the head of the request
      kAnswering,  // a worker computes the answer
      kWriting,    // writes the response
      kDraining,   // waits for the client to close
    };
    Connection(FileDescriptor accepted, EventLoop& loop, const std::weak_ptr<Job>& job,
               Clock::TimePoint until)
        : socket(std::move(accepted)), watched(loop, socket.get(), job), deadline(until) {}

    const FileDescriptor socket;
    Descriptor watched;
    const Clock::TimePoint deadline;
    State state = State::kReading;
    std::string input{};
    std::optional<BlockingCall<std::string>> answer{};
    std::string output{};
    std::size_t written = 0;
    std::size_t drained = 0;
  };

  void run() noexcept override {
    if (stopping_) return shut_down();
    try {
      turn();
    } catch (const std::exception& error) {
      // Usually a lack of memory: drop the oldest connection, and let the others wait a little.
      options_.log.error("the endpoint {} has dropped a connection: {}", options_.address,
                         error.what());
      if (!connections_.empty()) connections_.pop_front();
      rest();
    }
    wait();
  }

  void shut_down() noexcept {
    connections_.clear();
    listening_.reset();
    timer_.reset();
    rest_timer_.reset();
    {
      const std::lock_guard guard{mutex_};
      ended_ = true;
    }
    ended_changed_.notify_all();
  }
  [[nodiscard]] bool has_ended_within(std::chrono::nanoseconds limit) noexcept {
    std::unique_lock lock{mutex_};
    return ended_changed_.wait_for(lock, limit, [this] { return ended_; });
  }

  void turn() {
    if (!listening_) {
      listening_.emplace(scheduler()->loop(), listener_.get(), weak_from_this());
    }
    const Clock::TimePoint now = options_.clock->now();
    for (auto at = connections_.begin(); at != connections_.end();) {
      at = attempt(*at, now) ? std::next(at) : connections_.erase(at);
    }
    const bool asked = listening_->take_events() != 0;
    if (asked && !is_resting()) accept_some();
  }

  /// Makes the loop call run() again when there is something to do.
  void wait() noexcept {
    Clock::TimePoint next = Clock::TimePoint::max();
    for (Connection& connection : connections_) {
      next = std::min(next, connection.deadline);
      switch (connection.state) {
        case Connection::State::kReading:
        case Connection::State::kDraining:
          connection.watched.wait_for(POLLIN);
          break;
        case Connection::State::kWriting:
          connection.watched.wait_for(POLLOUT);
          break;
        case Connection::State::kAnswering:
          connection.watched.wait_for(0);
          break;
      }
    }
    if (listening_) listening_->wait_for(is_resting() ? 0 : POLLIN);
    timer_->set(next, weak_from_this());
    rest_timer_->set(is_resting() ? rest_until_ : Clock::TimePoint::max(), weak_from_this());
  }

  void rest() noexcept { rest_until_ = system_clock().now() + kRest; }
  [[nodiscard]] bool is_resting() const noexcept { return system_clock().now() < rest_until_; }

  /// Returns false if the connection has ended, also for lack of memory.
  bool attempt(Connection& connection, Clock::TimePoint now) noexcept {
    try {
      const bool is_ready = connection.watched.take_events() != 0 || connection.answer;
      if (now < connection.deadline) return !is_ready || serve(connection);
      if (connection.state != Connection::State::kDraining) options_.slow.add();
      if (connection.state == Connection::State::kAnswering) {
        tell(connection, {.status = 503, .body = "the answer was not ready in time\n"});
      } else if (connection.state == Connection::State::kReading) {
        tell(connection, {.status = 408, .body = "the request did not arrive in time\n"});
      }
    } catch (const std::exception& error) {
      options_.log.error("the endpoint {} has dropped a connection: {}", options_.address,
                         error.what());
    }
    return false;
  }

  void accept_some() {
    // Accepts a few at a time, so that existing connections have their turn.
    for (int i = 0; i < 16; ++i) {
      FileDescriptor socket{
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket.get() < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
          // Usually a lack of descriptors: drop the oldest connection, and let the next one wait a
          // little.
          if (!connections_.empty()) drop_oldest();
          rest();
        }
        return;
      }
      if (connections_.size() >= options_.max_connections) drop_oldest();
      connections_.emplace_back(std::move(socket), scheduler()->loop(), weak_from_this(),
                                options_.clock->now() + options_.timeout);
    }
  }

  void drop_oldest() {
    options_.crowded.add();
    tell(connections_.front(),
         {.status = 503, .body = "too many connections; the oldest was closed\n"});
    connections_.pop_front();
  }

  /// Sends a reason before a connection is closed, if the client has sent at least part of a
  /// request.
  static void tell(const Connection& connection, const HttpReply& reply) {
    const bool listens = connection.state == Connection::State::kReading ||
                         connection.state == Connection::State::kAnswering;
    if (!listens || connection.input.empty()) return;
    const std::string text = encode_reply(reply, false);
    if (send(connection.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0) {
      shutdown(connection.socket.get(), SHUT_WR);
    }
  }

  /// Makes as much progress as possible. Returns false if the connection has ended.
  bool serve(Connection& connection) {
    switch (connection.state) {
      case Connection::State::kReading:
        return read(connection);
      case Connection::State::kAnswering:
        return take_answer(connection);
      case Connection::State::kWriting:
        return write(connection);
      case Connection::State::kDraining:
        return drain(connection);
    }
    return false;
  }

  bool read(Connection& connection) {
    std::array<char, 4096> chunk{};
    const ssize_t count = recv(connection.socket.get(), chunk.data(), chunk.size(), 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    connection.input.append(chunk.data(), static_cast<std::size_t>(count));
    const std::size_t end = connection.input.find("\r\n\r\n");
    if (end != std::string::npos && end <= options_.max_head) return respond(connection);
    if (connection.input.size() <= options_.max_head) return true;
    options_.large.add();
    return begin_writing(
        connection,
        encode_reply({.status = 431,
                      .body = fmt::format("the head of the request has more than {} bytes\n",
                                          options_.max_head)},
                     false));
  }

  bool respond(Connection& connection) {
    const auto parsed = parse_request(connection.input);
    if (const auto* refusal = std::get_if<HttpRefusal>(&parsed)) {
      return begin_writing(connection, encode_reply(refusal->reply, refusal->head_only));
    }
    const auto& question = std::get<HttpQuestion>(parsed);
    connection.state = Connection::State::kAnswering;
    connection.answer.emplace(
        Poller{.waker = weak_from_this(), .scheduler = scheduler()}, "endpoint",
        [open = std::make_shared<Answers::Open>(answers_), path = std::string{question.path},
         query = std::string{question.query}, head_only = question.head_only](std::stop_token) {
          return encode_reply(open->reply(path, query), head_only);
        },
        Placement::kUrgent);
    return true;
  }

  static bool take_answer(Connection& connection) {
    std::optional<std::string> text = connection.answer->poll();
    if (!text) return true;
    connection.answer.reset();
    return begin_writing(connection, *std::move(text));
  }

  static bool begin_writing(Connection& connection, std::string text) {
    connection.output = std::move(text);
    connection.state = Connection::State::kWriting;
    return write(connection);
  }

  static bool write(Connection& connection) {
    while (connection.written < connection.output.size()) {
      const ssize_t count =
          send(connection.socket.get(), connection.output.data() + connection.written,
               connection.output.size() - connection.written, MSG_NOSIGNAL);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      connection.written += static_cast<std::size_t>(count);
    }
    connection.state = Connection::State::kDraining;
    return shutdown(connection.socket.get(), SHUT_WR) == 0;
  }

  static bool drain(Connection& connection) {
    std::array<char, 4096> chunk{};
    const ssize_t count = recv(connection.socket.get(), chunk.data(), chunk.size(), 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    connection.drained += static_cast<std::size_t>(count);
    return connection.drained <= kMaxDrained;
  }

  const HttpServerOptions options_;
  const std::shared_ptr<Answers> answers_;
  const FileDescriptor listener_;
  std::atomic<bool> stopping_ = false;
  // Used only by the loop's thread:
  std::optional<Descriptor> listening_;
  std::list<Connection> connections_;  // oldest first
  std::optional<Timer> timer_;         // fires at the first deadline
  std::optional<Timer> rest_timer_;
  Clock::TimePoint rest_until_{};  // no connection is accepted before

  std::mutex mutex_;
  Condition ended_changed_;
  bool ended_ = false;  // guarded by mutex_
};

HttpServer::HttpServer(HttpServerOptions options, Answer answer)
    : runtime_(options.runtime ? options.runtime : shared_runtime()),
      service_(std::make_shared<Service>(without_runtime(std::move(options)), std::move(answer),
                                         Inside::core(*runtime_))),
      address_(service_->address()) {
  service_->schedule();
}

HttpServer::~HttpServer() { service_->stop(); }

}  // namespace kube::detail
