// SPDX-License-Identifier: Apache-2.0
#include "tcp_connect.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace kube::detail {

namespace {

constexpr std::chrono::milliseconds kHeadStart{250};

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Returns an empty socket, with errno set, on failure.
Socket open_socket(int family, const TransportOptions& options, const SocketWatcher& watcher) {
  FileDescriptor socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)};
  if (!socket) return {};
  set(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.tcp_keep_alive.count() > 0) {
    const int seconds = static_cast<int>(std::clamp<std::int64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(options.tcp_keep_alive).count(), 1,
        0x7fff));  // the maximum
    set(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, seconds);
    set(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  }
  if (options.tcp_user_timeout.count() > 0) {
    set(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT,
        static_cast<int>(std::min<std::int64_t>(options.tcp_user_timeout.count(), 0x7fffffff)));
  }
  return Socket{std::move(socket), watcher};
}

}  // namespace

Socket TcpConnect::advance(TimePoint now) {
  for (auto attempt = attempts_.begin(); attempt != attempts_.end();) {
    const State state = check(*attempt);
    if (state == State::kConnected) return std::move(attempt->socket);
    attempt = state == State::kFailed ? attempts_.erase(attempt) : attempt + 1;
  }
  while (next_ < addresses_.size() && (attempts_.empty() || now >= next_start_)) {
    Attempt attempt{.socket = open_socket(addresses_[next_].storage.ss_family, options_, watcher_),
                    .address = next_++};
    const State state = attempt.socket ? check(attempt) : failed_with(attempt.address, errno);
    if (state == State::kConnected) return std::move(attempt.socket);
    if (state == State::kFailed) continue;
    attempts_.push_back(std::move(attempt));
    next_start_ = now + kHeadStart;
  }
  return {};
}

/// The first connect() starts the attempt; later calls report its progress.
TcpConnect::State TcpConnect::check(const Attempt& attempt) {
  const SocketAddress& address = addresses_[attempt.address];
  if (::connect(attempt.socket.get(), reinterpret_cast<const sockaddr*>(&address.storage),
                address.size) == 0 ||
      errno == EISCONN) {
    return State::kConnected;
  }
  if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) return State::kPending;
  return failed_with(attempt.address, errno);
}

TcpConnect::State TcpConnect::failed_with(std::size_t address, int code) {
  // Prefer ECONNREFUSED, which shows that the host is up, to an address family without a route.
  if (error_ != ECONNREFUSED) error_ = code;
  failures_ += fmt::format("{}{}: {}", failures_.empty() ? "" : ", ", addresses_[address].str(),
                           std::generic_category().message(code));
  return State::kFailed;
}

void TcpConnect::wait() const noexcept {
  for (const Attempt& attempt : attempts_) attempt.socket.wait_for(POLLOUT);
}

}  // namespace kube::detail
