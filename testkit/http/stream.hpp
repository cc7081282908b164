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

/// Where all of one connection happens: a context with one thread.
using Strand = boost::asio::io_context::executor_type;

/// A socket with or without TLS. At most one read and one write are under way at a time; handlers run on
/// the strand.
class ByteStream {
 public:
  using Done = std::function<void(const boost::system::error_code&, std::size_t)>;

  virtual ~ByteStream() = default;
  virtual void handshake(std::function<void(const boost::system::error_code&)> done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Done done) = 0;
  /// Writes what can be written at once, and tells how much that was.
  virtual std::size_t write_now(boost::asio::const_buffer /*from*/) { return 0; }
  virtual void write(boost::asio::const_buffer from, Done done) = 0;
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  /// Tells the peer that no more will come. `done` is called when it has agreed, if ever.
  virtual void finish(std::function<void(const boost::system::error_code&)> done) = 0;
  /// What ALPN chose; empty without TLS or ALPN.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }
  /// The client's certificate; with an empty name if it could not be verified (AU-5).
  [[nodiscard]] virtual std::optional<PeerCertificate> certificate() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<ByteStream> make_plain_stream(boost::asio::ip::tcp::socket socket,
                                                            Strand strand);
[[nodiscard]] std::unique_ptr<ByteStream> make_tls_stream(boost::asio::ip::tcp::socket socket,
                                                          Strand strand,
                                                          boost::asio::ssl::context& context);

}  // namespace kube::testkit::detail
