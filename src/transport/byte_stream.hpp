// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "socket.hpp"

namespace kube::detail {

/// A non-blocking stream of bytes to and from a peer.
class ByteStream {
 public:
  enum class Result {
    kBytes,
    kAllBytes,  ///< all available bytes: reading again at once would yield kAgain
    kAgain,
    kEnd,
  };

  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Reads available bytes. kEnd: the peer has closed its side. Throws TransportError if the
  /// connection is broken.
  [[nodiscard]] virtual Result receive(std::span<char> buffer, std::size_t& received) = 0;
  /// Returns how many bytes were accepted, possibly none. The next call must start with the rest of
  /// the same bytes. Throws TransportError.
  [[nodiscard]] virtual std::size_t send(std::string_view bytes) = 0;
  /// True if receive() returned kAgain because it needs to write first.
  [[nodiscard]] virtual bool wants_write() const noexcept { return false; }
  /// Tells the peer that no more bytes follow (TLS close_notify, TCP FIN), if that is possible
  /// without blocking. receive() may still be called.
  virtual void finish() noexcept = 0;
  /// Subscribes to readiness of the underlying socket: POLLIN, POLLOUT, both, or 0 for none.
  virtual void wait_for(short events) noexcept = 0;
  /// Returns whether the socket has become ready since the last call.
  [[nodiscard]] virtual bool take_ready() noexcept = 0;
};

/// A connected, non-blocking socket.
class SocketStream final : public ByteStream {
 public:
  /// `place` names the peer in messages.
  SocketStream(Socket socket, std::string place)
      : socket_(std::move(socket)), place_(std::move(place)) {}

  [[nodiscard]] Result receive(std::span<char> buffer, std::size_t& received) override;
  [[nodiscard]] std::size_t send(std::string_view bytes) override;
  void finish() noexcept override;
  void wait_for(short events) noexcept override { socket_.wait_for(events); }
  [[nodiscard]] bool take_ready() noexcept override { return socket_.take_ready(); }

 private:
  [[noreturn]] void lost(const char* when) const;

  const Socket socket_;
  const std::string place_;
};

}  // namespace kube::detail
