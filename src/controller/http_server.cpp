// SPDX-License-Identifier: Apache-2.0
#include "http_server.hpp"

#include <kube/base/file_descriptor.hpp>
#include <kube/base/text.hpp>

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
#include <optional>
#include <system_error>

namespace kube::detail {
namespace {

/// How often deadlines are looked at while there are connections.
constexpr int kTickMilliseconds = 100;
/// What is read and dropped after the answer, so that closing does not reset the connection too early.
constexpr std::size_t kMaxDrained = 65536;

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

/// "127.0.0.1:8080" or "[::1]:8080"; the host is empty for all addresses.
std::pair<std::string, std::string> split_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) {
    throw Error(fmt::format("cannot listen on \"{}\": expected <host>:<port>", address));
  }
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    throw Error(fmt::format("cannot listen on \"{}\": write [address]:port for IPv6", address));
  }
  return {host, address.substr(colon + 1)};
}

FileDescriptor listen_on(const std::string& address) {
  const auto [host, port] = split_address(address);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error =
          getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    throw Error(fmt::format("cannot listen on \"{}\": {}", address, gai_strerror(error)));
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
  throw Error(
      fmt::format("cannot listen on \"{}\": {}", address, std::generic_category().message(error)));
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

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> found;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = one.find('=');
    if (one.empty()) continue;
    const auto decoded = [](std::string_view text) {
      if (auto sound = percent_decode(text, true)) return *std::move(sound);
      std::string as_it_is{text};
      std::ranges::replace(as_it_is, '+', ' ');
      return as_it_is;
    };
    found.emplace_back(decoded(one.substr(0, equals)),
                       equals == std::string_view::npos ? "" : decoded(one.substr(equals + 1)));
  }
  return found;
}

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

  void run(const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] { eventfd_write(wake_.get(), 1); }};
    std::vector<pollfd> polled;
    while (!stop.stop_requested()) {
      // poll() passes over -1.
      polled.assign({{wake_.get(), POLLIN, 0}, {resting_ ? -1 : listener_.get(), POLLIN, 0}});
      for (const Connection& connection : connections_) {
        const bool writes = connection.state == Connection::State::kWriting;
        polled.push_back(
            {connection.socket.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      }
      const int ready = poll(polled.data(), polled.size(),
                             connections_.empty() && !resting_ ? -1 : kTickMilliseconds);
      resting_ = false;
      if (ready < 0 && errno != EINTR) {
        return options_.log.error("the endpoint {} has ended: {}", options_.address,
                                  std::generic_category().message(errno));
      }
      std::size_t index = 2;
      const Clock::TimePoint now = options_.clock->now();
      for (auto at = connections_.begin(); at != connections_.end(); ++index) {
        const bool goes_on = now < at->deadline && (polled[index].revents == 0 || serve(*at));
        at = goes_on ? std::next(at) : connections_.erase(at);
      }
      if (polled[1].revents != 0) accept_some();
    }
    connections_.clear();
  }

 private:
  void accept_some() {
    // A few at a time, so that those that are there have their turn.
    for (int i = 0; i < 16; ++i) {
      FileDescriptor socket{
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket.get() < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
          // No descriptors, mostly: the oldest makes room, and the next one has to wait a little.
          if (!connections_.empty()) connections_.pop_front();
          resting_ = true;
        }
        return;
      }
      if (connections_.size() >= options_.max_connections) connections_.pop_front();
      connections_.push_back({std::move(socket), options_.clock->now() + options_.timeout});
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
      connection.output = encode({.status = 431, .body = "the request is too large\n"}, false);
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
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last || line.find(' ', first + 1) != last) {
      return encode({.status = 400, .body = "this is no HTTP request\n"}, false);
    }
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
      return encode({.status = 505, .body = "only HTTP/1.1 is spoken here\n"}, false);
    }
    if (method != "GET" && method != "HEAD") {
      return encode({.status = 405, .body = "only GET and HEAD are possible\n"}, false);
    }
    if (target.empty() || target.front() != '/') {
      return encode({.status = 400, .body = "the target must be a path\n"}, method == "HEAD");
    }
    const std::size_t mark = target.find('?');
    HttpReply reply;
    try {
      reply =
          answer_(target.substr(0, mark),
                  mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1));
    } catch (const std::exception& error) {
      options_.log.error("{} {}: {}", method, target, error.what());
      reply = {.status = 500, .body = "internal server error\n"};
    } catch (...) {
      reply = {.status = 500, .body = "internal server error\n"};
    }
    return encode(reply, method == "HEAD");
  }

  static std::string encode(const HttpReply& reply, bool head_only) {
    std::string text = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
        "X-Content-Type-Options: nosniff\r\n{}\r\n",
        reply.status, status_text(reply.status), reply.content_type, reply.body.size(),
        reply.status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (!head_only) text += reply.body;
    return text;
  }

  const HttpServerOptions options_;
  const Answer answer_;
  const FileDescriptor listener_;
  const FileDescriptor wake_;
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
