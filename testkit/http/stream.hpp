// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/message.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace kube::testkit::detail {

/// The executor of a connection: an io_context with a single thread, so that handlers never run
/// concurrently.
using Strand = boost::asio::io_context::executor_type;

/// A socket with or without TLS. At most one read and one write are pending at a time; handlers run
/// on the strand.
class ByteStream {
 public:
  using Done = std::function<void(const boost::system::error_code&, std::size_t)>;

  virtual ~ByteStream() = default;
  virtual void handshake(std::function<void(const boost::system::error_code&)> done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Done done) = 0;
  /// Writes as much as possible without blocking. Returns the number of bytes written.
  virtual std::size_t write_now(boost::asio::const_buffer /*from*/) { return 0; }
  virtual void write(boost::asio::const_buffer from, Done done) = 0;
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  /// Sends the end of the stream (TCP FIN or TLS close_notify). `done` is called when the peer has
  /// answered.
  virtual void finish(std::function<void(const boost::system::error_code&)> done) = 0;
  /// Returns the protocol chosen by ALPN; empty without TLS or ALPN.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }
  /// Returns the client's certificate. Its name is empty if the certificate could not be verified
  /// (AU-5).
  [[nodiscard]] virtual std::optional<PeerCertificate> certificate() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<ByteStream> make_plain_stream(boost::asio::ip::tcp::socket socket,
                                                            Strand strand);
[[nodiscard]] std::unique_ptr<ByteStream> make_tls_stream(boost::asio::ip::tcp::socket socket,
                                                          Strand strand,
                                                          boost::asio::ssl::context& context);

}  // namespace kube::testkit::detail
