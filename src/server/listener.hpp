// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"

#include <string>

namespace kube::server {

/// The parts of "127.0.0.1:8080", "[::1]:8080" or ":8080"; the host is empty for all addresses.
struct ListenAddress {
  std::string host;
  std::string port;
};
/// Throws kube::Error that names the address, the problem and an example.
[[nodiscard]] ListenAddress parse_listen_address(const std::string& address);

/// Returns a non-blocking socket that listens on `address`. Throws kube::Error that names it.
[[nodiscard]] detail::FileDescriptor listen_on(const std::string& address);

/// Returns the address of a socket, or of its peer: "127.0.0.1:41234", "[::1]:41234".
[[nodiscard]] std::string local_address(int socket);
[[nodiscard]] std::string peer_address(int socket);

}  // namespace kube::server
