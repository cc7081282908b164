// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/stream.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <openssl/x509.h>

#include <utility>

namespace kube::testkit::detail {
namespace {

using boost::asio::ip::tcp;

class PlainStream final : public ByteStream {
 public:
  PlainStream(tcp::socket socket, Strand strand)
      : socket_(std::move(socket)), strand_(std::move(strand)) {}

  void handshake(std::function<void(const boost::system::error_code&)> done) override { done({}); }
  void read_some(boost::asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, boost::asio::bind_executor(strand_, std::move(done)));
  }
  std::size_t write_now(boost::asio::const_buffer from) override {
    boost::system::error_code error;
    if (!socket_.non_blocking()) socket_.non_blocking(true, error);
    const std::size_t size = error ? 0 : socket_.write_some(from, error);
    return error ? 0 : size;  // the asynchronous write reports the error
  }
  void write(boost::asio::const_buffer from, Done done) override {
    boost::asio::async_write(socket_, from, boost::asio::bind_executor(strand_, std::move(done)));
  }
  tcp::socket& socket() override { return socket_; }
  /// The peer answers by closing its side, which ends the pending read.
  void finish(std::function<void(const boost::system::error_code&)> /*done*/) override {
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }

 private:
  tcp::socket socket_;
  Strand strand_;
};

std::vector<std::string> subject_entries(X509* certificate, int nid) {
  std::vector<std::string> entries;
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return entries;
}

class TlsStream final : public ByteStream {
 public:
  TlsStream(tcp::socket socket, Strand strand, boost::asio::ssl::context& context)
      : stream_(std::move(socket), context), strand_(std::move(strand)) {}

  void handshake(std::function<void(const boost::system::error_code&)> done) override {
    stream_.async_handshake(boost::asio::ssl::stream_base::server,
                            boost::asio::bind_executor(strand_, std::move(done)));
  }
  void read_some(boost::asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, boost::asio::bind_executor(strand_, std::move(done)));
  }
  void write(boost::asio::const_buffer from, Done done) override {
    boost::asio::async_write(stream_, from, boost::asio::bind_executor(strand_, std::move(done)));
  }
  tcp::socket& socket() override { return stream_.next_layer(); }

  void finish(std::function<void(const boost::system::error_code&)> done) override {
    stream_.async_shutdown(boost::asio::bind_executor(strand_, std::move(done)));
  }
  [[nodiscard]] std::string_view protocol() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(native(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  [[nodiscard]] std::optional<PeerCertificate> certificate() const override {
    X509* certificate = SSL_get0_peer_certificate(native());
    if (certificate == nullptr) return std::nullopt;
    PeerCertificate peer;
    if (SSL_get_verify_result(native()) != X509_V_OK) return peer;
    const std::vector<std::string> names = subject_entries(certificate, NID_commonName);
    if (!names.empty()) peer.common_name = names.front();
    peer.organizations = subject_entries(certificate, NID_organizationName);
    return peer;
  }

 private:
  [[nodiscard]] const SSL* native() const {
    return const_cast<boost::asio::ssl::stream<tcp::socket>&>(stream_).native_handle();
  }

  boost::asio::ssl::stream<tcp::socket> stream_;
  Strand strand_;
};

}  // namespace

std::unique_ptr<ByteStream> make_plain_stream(tcp::socket socket, Strand strand) {
  return std::make_unique<PlainStream>(std::move(socket), std::move(strand));
}

std::unique_ptr<ByteStream> make_tls_stream(tcp::socket socket, Strand strand,
                                            boost::asio::ssl::context& context) {
  return std::make_unique<TlsStream>(std::move(socket), std::move(strand), context);
}

}  // namespace kube::testkit::detail
