// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kube::test {

/// A connection to 127.0.0.1 for a client that may violate the protocol. Reads time out after ten
/// seconds.
class RawConnection {
 public:
  /// `address` is "127.0.0.1:41234".
  explicit RawConnection(const std::string& address)
      : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(descriptor_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      close(descriptor_);
      throw std::runtime_error("cannot connect to " + address);
    }
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() { close(descriptor_); }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const auto count = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  /// Returns everything received until the server closes the connection.
  [[nodiscard]] std::string read() const {
    std::string all;
    std::array<char, 4096> chunk{};
    while (true) {
      const auto count = recv(descriptor_, chunk.data(), chunk.size(), 0);
      if (count <= 0) return all;
      all.append(chunk.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
};

/// Status and body of a response; {0, ""} if there is no server.
struct Answer {
  int status = 0;
  std::string head{};
  std::string body{};
};
inline Answer parse_answer(const std::string& text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return {0, text, ""};
  return {std::stoi(text.substr(9)), text.substr(0, end), text.substr(end + 4)};
}
inline Answer http_get(const std::string& address, const std::string& target,
                       const std::string& method = "GET") {
  try {
    const RawConnection connection{address};
    connection.send(method + ' ' + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return parse_answer(connection.read());
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace kube::test
