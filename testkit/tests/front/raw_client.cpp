// SPDX-License-Identifier: Apache-2.0
#include "raw_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace kube::testkit {
namespace {

constexpr int kPatience = 10000;

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

struct BioDeleter {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
std::unique_ptr<BIO, BioDeleter> memory(const std::string& text) {
  return std::unique_ptr<BIO, BioDeleter>{
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string& ca, const std::string& certificate,
                     const std::string& key, std::string_view alpn) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(socket_ >= 0, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "connect");
  const int now = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  const timeval patience{10, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (ca.empty()) return;

  context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  X509* trusted = PEM_read_bio_X509(memory(ca).get(), nullptr, nullptr, nullptr);
  require(trusted != nullptr, "CA");
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), trusted);
  X509_free(trusted);
  if (!certificate.empty()) {
    X509* own = PEM_read_bio_X509(memory(certificate).get(), nullptr, nullptr, nullptr);
    EVP_PKEY* own_key = PEM_read_bio_PrivateKey(memory(key).get(), nullptr, nullptr, nullptr);
    require(own != nullptr && own_key != nullptr, "certificate");
    SSL_CTX_use_certificate(context_.get(), own);
    SSL_CTX_use_PrivateKey(context_.get(), own_key);
    X509_free(own);
    EVP_PKEY_free(own_key);
  }
  ssl_.reset(SSL_new(context_.get()));
  if (!alpn.empty()) {
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                        static_cast<unsigned>(alpn.size()));
  }
  SSL_set1_host(ssl_.get(), "localhost");
  SSL_set_fd(ssl_.get(), socket_);
  require(SSL_connect(ssl_.get()) == 1, "TLS handshake");
}

RawClient::~RawClient() { close(); }

void RawClient::close() {
  ssl_.reset();
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

std::string RawClient::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the error is reported by the next read
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void RawClient::get(std::string_view target, std::string_view headers) {
  send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, headers));
}

void RawClient::post(std::string_view target, std::string_view body, std::string_view headers) {
  send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: {}\r\n{}\r\n{}",
                  target, body.size(), headers, body));
}

bool RawClient::readable(std::chrono::milliseconds time) {
  if (!buffer_.empty() || (ssl_ && SSL_pending(ssl_.get()) > 0)) return true;
  pollfd entry{socket_, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(time.count())) > 0;
}

std::string RawClient::read_some() {
  if (!buffer_.empty()) return std::exchange(buffer_, {});
  if (ended_) return {};
  require(readable(std::chrono::milliseconds{kPatience}), "nothing came within ten seconds");
  std::array<char, 65536> bytes{};
  errno = 0;
  const auto size = ssl_ ? SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                         : ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    ended_ = true;
    reset_ = errno == ECONNRESET;
    return {};
  }
  return {bytes.data(), static_cast<std::size_t>(size)};
}

std::string RawClient::read_until(std::string_view mark) {
  std::string all;
  for (;;) {
    const std::string more = read_some();
    all += more;
    const std::size_t at = all.find(mark);
    if (at != std::string::npos) {
      buffer_ = all.substr(at + mark.size());
      all.resize(at + mark.size());
      return all;
    }
    if (more.empty()) return all;
  }
}

std::string RawClient::read_exactly(std::size_t size) {
  if (size == 0) return {};  // the rest stays in the buffer
  std::string all;
  while (all.size() < size) {
    const std::string more = read_some();
    if (more.empty()) return all;
    all += more;
  }
  buffer_ = all.substr(size);
  all.resize(size);
  return all;
}

std::string RawClient::read_to_end() {
  std::string all;
  for (std::string more; !(more = read_some()).empty();) all += more;
  return all;
}

RawResponse RawClient::read_head() {
  RawResponse response;
  std::string head = read_until("\r\n\r\n");
  if (head.starts_with("HTTP/1.1 100")) head = read_until("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ") || !head.ends_with("\r\n\r\n")) return response;
  response.status = std::stoi(head.substr(9, 3));
  std::size_t at = head.find("\r\n") + 2;
  while (at < head.size() - 2) {
    const std::size_t end = head.find("\r\n", at);
    const std::size_t colon = head.find(':', at);
    std::string name = head.substr(at, colon - at);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    response.headers[name] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return response;
}

std::string RawClient::read_chunk() {
  const std::string line = read_until("\r\n");
  if (!line.ends_with("\r\n")) return {};
  const std::size_t size = std::stoul(line, nullptr, 16);
  std::string chunk = read_exactly(size + 2);
  if (chunk.size() == size + 2) chunk.resize(size);
  return chunk;
}

RawResponse RawClient::read_response() {
  RawResponse response = read_head();
  if (response.headers.contains("content-length")) {
    const std::size_t size = std::stoul(response.headers["content-length"]);
    response.body = read_exactly(size);
    response.complete = response.body.size() == size;
  } else if (response.headers["transfer-encoding"] == "chunked") {
    for (;;) {
      const std::string line = read_until("\r\n");
      if (!line.ends_with("\r\n")) break;
      const std::size_t size = std::stoul(line, nullptr, 16);
      const std::string chunk = read_exactly(size + 2);
      response.body += chunk.substr(0, std::min(size, chunk.size()));
      if (chunk.size() < size + 2) break;
      if (size == 0) {
        response.complete = true;
        break;
      }
    }
  } else if (response.status == 304 || response.status == 204) {
    response.complete = true;
  }
  return response;
}

}  // namespace kube::testkit
