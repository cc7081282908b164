// SPDX-License-Identifier: Apache-2.0
#include "byte_stream.hpp"

#include <kube/transport/error.hpp>

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace kube::detail {

ByteStream::Result SocketStream::receive(std::span<char> buffer, std::size_t& received) {
  received = 0;
  ssize_t count = 0;
  do {
    count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    if (errno == EAGAIN) return Result::kAgain;
    lost("reading");
  }
  received = static_cast<std::size_t>(count);
  if (count == 0) return Result::kEnd;
  return received < buffer.size() ? Result::kAllBytes : Result::kBytes;
}

std::size_t SocketStream::send(std::string_view bytes) {
  ssize_t count = 0;
  do {
    count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno == EAGAIN) return 0;
  lost("writing");
}

void SocketStream::finish() noexcept { ::shutdown(socket_.get(), SHUT_WR); }

void SocketStream::lost(const char* when) const {
  throw TransportError(TransportError::Kind::kConnectionLost,
                       fmt::format("{}: connection lost while {}: {}", place_, when,
                                   std::generic_category().message(errno)));
}

}  // namespace kube::detail
