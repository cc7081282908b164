// SPDX-License-Identifier: Apache-2.0
#include "http_server.hpp"

#include "http_request.hpp"

#include "base/file_descriptor.hpp"
#include <kube/api/validation.hpp>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <system_error>
#include <variant>

namespace kube::detail {
namespace {

/// How often deadlines are looked at while there are connections.
constexpr int kTickMilliseconds = 100;
/// What is read and dropped after the answer, so that closing does not reset the connection too early.
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
  // Without a host, IPv6 first: its socket serves IPv4 as well.
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

}  // namespace

struct HttpServer::Connection {
  enum class State {
    kReading,   // the head of the request
    kWriting,   // the answer
    kDraining,  // waits for the client to close
  };
  FileDescriptor socket;
  Clock::TimePoint deadline;
  State state = State::kReading;
  std::string input{};
  std::string output{};
  std::size_t written = 0;
  std::size_t drained = 0;
};

class HttpServer::Loop {
 public:
  Loop(HttpServerOptions options, Answer answer)
      : options_(std::move(options)),
        answer_(std::move(answer)),
        listener_(listen_on(options_.address)),
        wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (wake_.get() < 0)
      throw Error(fmt::format("eventfd: {}", std::generic_category().message(errno)));
  }
  [[nodiscard]] std::string address() const { return address_of(listener_); }

  void run(const std::stop_token& stop) noexcept {
    const std::stop_callback wake{stop, [this] { eventfd_write(wake_.get(), 1); }};
    while (!stop.stop_requested()) {
      try {
        poll_once();
      } catch (const std::exception& error) {
        // No memory, mostly: the oldest makes room, and the others have to wait a little.
        options_.log.error("the endpoint {} has dropped a connection: {}", options_.address,
                           error.what());
        if (!connections_.empty()) connections_.pop_front();
        poll(nullptr, 0, kTickMilliseconds);
      }
    }
    connections_.clear();
  }

 private:
  void poll_once() {
    // poll() passes over -1.
    polled_.assign({{wake_.get(), POLLIN, 0}, {resting_ ? -1 : listener_.get(), POLLIN, 0}});
    for (const Connection& connection : connections_) {
      const bool writes = connection.state == Connection::State::kWriting;
      polled_.push_back(
          {connection.socket.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    }
    const int ready = poll(polled_.data(), polled_.size(),
                           connections_.empty() && !resting_ ? -1 : kTickMilliseconds);
    resting_ = false;
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    std::size_t index = 2;
    const Clock::TimePoint now = options_.clock->now();
    for (auto at = connections_.begin(); at != connections_.end(); ++index) {
      const bool goes_on = attempt(*at, now, ready > 0 && polled_[index].revents != 0);
      at = goes_on ? std::next(at) : connections_.erase(at);
    }
    if (ready > 0 && polled_[1].revents != 0) accept_some();
  }

  /// False if the connection has ended, be it for want of memory.
  bool attempt(Connection& connection, Clock::TimePoint now, bool ready) noexcept {
    try {
      if (now < connection.deadline) return !ready || serve(connection);
      if (connection.state != Connection::State::kDraining) options_.slow.add();
      tell(connection, {.status = 408, .body = "the request did not arrive in time\n"});
    } catch (const std::exception& error) {
      options_.log.error("the endpoint {} has dropped a connection: {}", options_.address,
                         error.what());
    }
    return false;
  }

  void accept_some() {
    // A few at a time, so that those that are there have their turn.
    for (int i = 0; i < 16; ++i) {
      FileDescriptor socket{
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket.get() < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
          // No descriptors, mostly: the oldest makes room, and the next one has to wait a little.
          if (!connections_.empty()) drop_oldest();
          resting_ = true;
        }
        return;
      }
      if (connections_.size() >= options_.max_connections) drop_oldest();
      connections_.push_back({std::move(socket), options_.clock->now() + options_.timeout});
    }
  }

  void drop_oldest() {
    options_.crowded.add();
    tell(connections_.front(),
         {.status = 503, .body = "there are too many connections, and this was the oldest\n"});
    connections_.pop_front();
  }

  /// Says why a connection ends, if it has begun to ask and would listen.
  static void tell(const Connection& connection, const HttpReply& reply) {
    if (connection.state != Connection::State::kReading || connection.input.empty()) return;
    const std::string text = encode_reply(reply, false);
    if (send(connection.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0) {
      shutdown(connection.socket.get(), SHUT_WR);
    }
  }

  /// Does what can be done now; false if the connection has ended.
  bool serve(Connection& connection) {
    switch (connection.state) {
      case Connection::State::kReading:
        return read(connection);
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
    if (end != std::string::npos && end <= options_.max_head) {
      connection.output = respond(connection.input);
    } else if (connection.input.size() > options_.max_head) {
      options_.large.add();
      connection.output =
          encode_reply({.status = 431,
                        .body = fmt::format("the head of the request has more than {} bytes\n",
                                            options_.max_head)},
                       false);
    } else {
      return true;
    }
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

  std::string respond(std::string_view head) {
    const auto parsed = parse_request(head);
    if (const auto* refusal = std::get_if<HttpRefusal>(&parsed)) {
      return encode_reply(refusal->reply, refusal->head_only);
    }
    const auto& question = std::get<HttpQuestion>(parsed);
    HttpReply reply;
    try {
      reply = answer_(question.path, question.query);
    } catch (const std::exception& error) {
      options_.log.error("GET {}: {}", question.path, error.what());
      reply = {.status = 500, .body = "internal server error\n"};
    } catch (...) {
      options_.log.error("GET {}: the handler has thrown what is no exception", question.path);
      reply = {.status = 500, .body = "internal server error\n"};
    }
    return encode_reply(reply, question.head_only);
  }

  const HttpServerOptions options_;
  const Answer answer_;
  const FileDescriptor listener_;
  const FileDescriptor wake_;
  std::vector<pollfd> polled_;
  std::list<Connection> connections_;  // the oldest first
  bool resting_ = false;               // accepts nobody for a moment
};

HttpServer::HttpServer(HttpServerOptions options, Answer answer)
    : loop_(std::make_unique<Loop>(std::move(options), std::move(answer))) {
  address_ = loop_->address();
  thread_ = std::jthread{[loop = loop_.get()](const std::stop_token& stop) { loop->run(stop); }};
}

HttpServer::~HttpServer() = default;

}  // namespace kube::detail
