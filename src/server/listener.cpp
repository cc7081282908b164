// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include <kube/api/validation.hpp>
#include <kube/base/error.hpp>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

namespace kube::server {
namespace {

using detail::quoted;

[[noreturn]] void refuse(const std::string& address, std::string_view problem) {
  throw Error(fmt::format(
      "cannot listen on {}: {}; write <host>:<port>, for example 127.0.0.1:8080, [::1]:8080 or "
      ":8080 for all addresses",
      quoted(address), problem));
}

/// Returns an invalid descriptor, with errno set, if the address cannot be used.
detail::FileDescriptor listening_socket(const addrinfo& at, bool any_family) {
  detail::FileDescriptor socket{
      ::socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return socket;
  const int on = 1;
  const int off = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (at.ai_family == AF_INET6 && any_family) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(socket.get(), at.ai_addr, at.ai_addrlen) == 0 &&
      ::listen(socket.get(), SOMAXCONN) == 0) {
    return socket;
  }
  const int error = errno;
  socket.reset();
  errno = error;
  return socket;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::string address_text(int socket, NameOf name_of) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (name_of(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&name), size, host.data(), host.size(), port.data(),
                    port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return name.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                    : fmt::format("{}:{}", host.data(), port.data());
}

}  // namespace

ListenAddress parse_listen_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) refuse(address, "the port is missing");
  ListenAddress parsed{address.substr(0, colon), address.substr(colon + 1)};
  std::string& host = parsed.host;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    refuse(address, "an IPv6 address must be in brackets");
  }
  // Parsed strictly: getaddrinfo() would turn other texts into a different port.
  std::uint16_t port = 0;
  const char* const end = parsed.port.data() + parsed.port.size();
  const auto [stopped, problem] = std::from_chars(parsed.port.data(), end, port);
  if (problem != std::errc{} || stopped != end || parsed.port.size() > 5) {
    refuse(address, "the port is not a number from 0 to 65535");
  }
  return parsed;
}

detail::FileDescriptor listen_on(const std::string& address) {
  const auto [host, port] = parse_listen_address(address);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    throw Error(fmt::format("cannot listen on {}: {}", quoted(address), gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, &freeaddrinfo};
  // Without a host, try IPv6 first: its socket serves IPv4 as well.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      if (one->ai_family != family) continue;
      if (auto socket = listening_socket(*one, host.empty())) return socket;
    }
  }
  throw Error(fmt::format("cannot listen on {}: {}", quoted(address),
                          std::generic_category().message(errno)));
}

std::string local_address(int socket) { return address_text(socket, &::getsockname); }
std::string peer_address(int socket) { return address_text(socket, &::getpeername); }

}  // namespace kube::server
