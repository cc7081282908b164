// SPDX-License-Identifier: Apache-2.0
#include "faulty_proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace kube::testing_support {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{256} << 10;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void prepare(int socket) {
  const int now = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
}

/// Closes with a reset, so that the peer notices at once.
void reset_and_close(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(socket);
}

/// Detects TCP self-connection: if nothing listens on an ephemeral port, a connecting socket may be
/// assigned that very port and connect to itself.
bool is_connected_to_itself(int socket) {
  sockaddr_in here{};
  sockaddr_in there{};
  socklen_t size = sizeof here;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size);
  size = sizeof there;
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &size);
  return here.sin_port == there.sin_port;
}

/// Opens a listening socket. If `port` is 0, it is set to the assigned port.
int listen_at(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int again = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 64) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "the proxy cannot listen");
  }
  port = ntohs(address.sin_port);
  prepare(listener);
  return listener;
}

}  // namespace

FaultyProxy::FaultyProxy(std::uint16_t target) : target_(target), listener_(listen_at(port_)) {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

FaultyProxy::~FaultyProxy() {
  thread_.request_stop();
  thread_.join();
  for (const auto& connection : connections_) {
    ::close(connection->client);
    ::close(connection->server);
  }
  if (listener_ >= 0) ::close(listener_);
}

void FaultyProxy::close_port() {
  const std::lock_guard guard{mutex_};
  cut_ = true;
  if (listener_ < 0) return;
  ::shutdown(listener_, SHUT_RDWR);  // takes effect at once, even while the thread polls it
  ::close(std::exchange(listener_, -1));
}
void FaultyProxy::open_port() {
  const std::lock_guard guard{mutex_};
  if (listener_ < 0) listener_ = listen_at(port_);
}
void FaultyProxy::cut() {
  const std::lock_guard guard{mutex_};
  cut_ = true;
}
void FaultyProxy::hold(Clock::duration time) {
  const std::lock_guard guard{mutex_};
  held_until_ = Clock::now() + time;
}
void FaultyProxy::delay(Clock::duration by, Clock::duration time) {
  const std::lock_guard guard{mutex_};
  delay_ = by;
  delayed_until_ = Clock::now() + time;
}
void FaultyProxy::throttle(std::size_t bytes_per_second, Clock::duration time) {
  const std::lock_guard guard{mutex_};
  rate_ = bytes_per_second;
  throttled_until_ = Clock::now() + time;
}
void FaultyProxy::corrupt() {
  const std::lock_guard guard{mutex_};
  corrupt_next_ = true;
}
void FaultyProxy::refuse(Clock::duration time) {
  const std::lock_guard guard{mutex_};
  refused_until_ = Clock::now() + time;
}
void FaultyProxy::heal() {
  const std::lock_guard guard{mutex_};
  held_until_ = delayed_until_ = throttled_until_ = refused_until_ = {};
  corrupt_next_ = false;
}
std::size_t FaultyProxy::connections() const {
  const std::lock_guard guard{mutex_};
  return connections_.size();
}

void FaultyProxy::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  if (Clock::now() < refused_until_) return reset_and_close(client);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(target_);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      is_connected_to_itself(server)) {
    ::close(server);
    return reset_and_close(client);
  }
  prepare(client);
  prepare(server);
  auto connection = std::make_unique<Connection>();
  connection->client = client;
  connection->server = server;
  connections_.push_back(std::move(connection));
}

void FaultyProxy::receive(int from, Direction& direction, bool from_server, bool& dead) {
  std::array<char, 16384> buffer{};
  const ssize_t size = ::recv(from, buffer.data(), buffer.size(), 0);
  if (size < 0) {
    dead = errno != EAGAIN && errno != EINTR;
    return;
  }
  if (size == 0) {
    direction.ended = true;
    return;
  }
  const auto count = static_cast<std::size_t>(size);
  if (from_server && corrupt_next_) {
    corrupt_next_ = false;
    buffer[count / 2] = static_cast<char>(buffer[count / 2] ^ 0x10);
  }
  const auto now = Clock::now();
  direction.waiting.push_back(
      {std::string{buffer.data(), count}, now < delayed_until_ ? now + delay_ : now});
  direction.size += count;
}

void FaultyProxy::send(int to, Direction& direction, double elapsed, bool& dead) {
  const auto now = Clock::now();
  const bool throttled = now < throttled_until_;
  if (throttled) {
    direction.allowance = std::min(direction.allowance + elapsed * static_cast<double>(rate_),
                                   static_cast<double>(rate_));
  }
  while (!direction.waiting.empty() && direction.waiting.front().due <= now) {
    std::string& bytes = direction.waiting.front().bytes;
    std::size_t most = bytes.size();
    if (throttled) most = std::min(most, static_cast<std::size_t>(direction.allowance));
    if (most == 0) return;
    const ssize_t sent = ::send(to, bytes.data(), most, MSG_NOSIGNAL);
    if (sent < 0) {
      dead = dead || (errno != EAGAIN && errno != EINTR);
      return;
    }
    const auto count = static_cast<std::size_t>(sent);
    direction.allowance -= throttled ? static_cast<double>(count) : 0;
    direction.size -= count;
    bytes.erase(0, count);
    if (bytes.empty()) direction.waiting.pop_front();
  }
  if (direction.ended && direction.waiting.empty()) ::shutdown(to, SHUT_WR);
}

void FaultyProxy::run(const std::stop_token& stop) {
  auto last = Clock::now();
  while (!stop.stop_requested()) {
    std::vector<pollfd> polled;
    bool something_waits = false;
    bool held = false;
    {
      const std::lock_guard guard{mutex_};
      polled.push_back({listener_, POLLIN, 0});
      held = Clock::now() < held_until_;
      for (const auto& connection : connections_) {
        const auto wants = [&](const Direction& direction) -> short {
          return !held && !direction.ended && direction.size < kMostWaiting ? POLLIN : 0;
        };
        polled.push_back({connection->client, wants(connection->up), 0});
        polled.push_back({connection->server, wants(connection->down), 0});
        something_waits |= connection->up.size + connection->down.size > 0;
      }
    }
    ::poll(polled.data(), polled.size(), something_waits || held ? 2 : 20);

    const std::lock_guard guard{mutex_};
    const auto now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - last).count();
    last = now;
    for (std::size_t i = 0; i < connections_.size() && 2 * i + 2 < polled.size(); ++i) {
      Connection& connection = *connections_[i];
      bool& dead = connection.dead;
      if (cut_) dead = true;
      if (held || dead) continue;
      if ((polled[2 * i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        receive(connection.client, connection.up, false, dead);
      }
      if ((polled[2 * i + 2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        receive(connection.server, connection.down, true, dead);
      }
      send(connection.server, connection.up, elapsed, dead);
      send(connection.client, connection.down, elapsed, dead);
      dead = dead || (connection.up.ended && connection.down.ended &&
                      connection.up.size + connection.down.size == 0);
    }
    cut_ = false;
    std::erase_if(connections_, [](const auto& connection) {
      if (!connection->dead) return false;
      reset_and_close(connection->client);
      reset_and_close(connection->server);
      return true;
    });
    if (listener_ >= 0 && (polled[0].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace kube::testing_support
