// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "socket.hpp"

namespace kube::detail {

/// Bytes to and from a peer, without ever waiting.
class ByteStream {
 public:
  enum class Result {
    kBytes,
    kAllBytes,  ///< for the moment: to ask at once for more would be in vain
    kAgain,
    kEnd,
  };

  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// kEnd: the peer has said that nothing follows. Throws TransportError if the connection is broken.
  [[nodiscard]] virtual Result receive(std::span<char> buffer, std::size_t& received) = 0;
  /// Returns how many bytes were taken, perhaps none; then the same bytes have to come next. Throws
  /// TransportError.
  [[nodiscard]] virtual std::size_t send(std::string_view bytes) = 0;
  /// receive() said kAgain, but what it waits for is room to write.
  [[nodiscard]] virtual bool wants_write() const noexcept { return false; }
  /// Has the loop tell when the socket below can be read (POLLIN) or written (POLLOUT); 0: nothing.
  virtual void wait_for(short events) noexcept = 0;
  /// Whether the loop has told so since the last call.
  [[nodiscard]] virtual bool take_ready() noexcept = 0;
};

/// A socket that is connected and does not block.
class SocketStream final : public ByteStream {
 public:
  /// `place` is for messages.
  SocketStream(Socket socket, std::string place)
      : socket_(std::move(socket)), place_(std::move(place)) {}

  [[nodiscard]] Result receive(std::span<char> buffer, std::size_t& received) override;
  [[nodiscard]] std::size_t send(std::string_view bytes) override;
  void wait_for(short events) noexcept override { socket_.wait_for(events); }
  [[nodiscard]] bool take_ready() noexcept override { return socket_.take_ready(); }

 private:
  [[noreturn]] void lost(const char* when) const;

  const Socket socket_;
  const std::string place_;
};

}  // namespace kube::detail
