// SPDX-License-Identifier: Apache-2.0
#include "support/scripted_server.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace kube::test {

namespace {

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string{"scripted server: "} + what);
}

X509* parse_certificate(const std::string& text) {
  BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  require(certificate != nullptr, "a certificate is not PEM");
  return certificate;
}

int choose_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                unsigned in_size, void* argument) {
  const auto* wire = static_cast<const std::string*>(argument);
  if (wire->empty()) return SSL_TLSEXT_ERR_NOACK;
  return SSL_select_next_proto(const_cast<unsigned char**>(out), out_size,
                               reinterpret_cast<const unsigned char*>(wire->data()),
                               static_cast<unsigned>(wire->size()), in,
                               in_size) == OPENSSL_NPN_NEGOTIATED
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::shared_ptr<SSL_CTX> make_context(const ServerTls& tls) {
  auto alpn = std::make_shared<std::string>();
  for (const std::string& protocol : tls.alpn) {
    *alpn += static_cast<char>(protocol.size());
    *alpn += protocol;
  }
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method()),
                                   [alpn](SSL_CTX* pointer) { SSL_CTX_free(pointer); }};
  SSL_CTX_set_max_proto_version(context.get(), tls.max_version);
  X509* certificate = parse_certificate(tls.certificate.certificate);
  BIO* bio =
      BIO_new_mem_buf(tls.certificate.key.data(), static_cast<int>(tls.certificate.key.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  require(SSL_CTX_use_certificate(context.get(), certificate) == 1, "certificate");
  require(SSL_CTX_use_PrivateKey(context.get(), key) == 1, "key");
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!tls.client_ca.empty()) {
    X509* ca = parse_certificate(tls.client_ca);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca);
    X509_free(ca);
    SSL_CTX_set_verify(
        context.get(),
        SSL_VERIFY_PEER | (tls.client_may_be_anonymous ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT),
        nullptr);
  }
  SSL_CTX_set_alpn_select_cb(context.get(), choose_alpn, alpn.get());
  return context;
}

}  // namespace

Peer::Peer(int socket, SSL_CTX* context) : socket_(socket) {
  if (context != nullptr) {
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, socket);
  }
}

Peer::~Peer() {
  if (ssl_ != nullptr) SSL_free(ssl_);
}

bool Peer::handshake() {
  const bool ok = ssl_ == nullptr || SSL_accept(ssl_) == 1;
  ERR_clear_error();
  return ok;
}

std::string Peer::read_some() {
  if (!buffer_.empty()) return std::exchange(buffer_, {});
  std::array<char, 16384> bytes;
  const auto size = ssl_ != nullptr
                        ? SSL_read(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                        : static_cast<int>(::recv(socket_, bytes.data(), bytes.size(), 0));
  ERR_clear_error();
  return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : std::string{};
}

std::string Peer::read_until(std::string_view text) {
  std::string all;
  while (true) {
    const auto found = all.find(text);
    if (found != std::string::npos) {
      buffer_ = all.substr(found + text.size());
      all.resize(found + text.size());
      return all;
    }
    const std::string more = read_some();
    if (more.empty()) return all;
    all += more;
  }
}

std::string Peer::read_request() {
  std::string head = read_until("\r\n\r\n");
  body_.clear();
  constexpr std::string_view kLength = "Content-Length: ";
  if (const auto found = head.find(kLength); found != std::string::npos) {
    const auto size = std::strtoul(head.c_str() + found + kLength.size(), nullptr, 10);
    while (body_.size() < size) {
      const std::string more = read_some();
      if (more.empty()) break;
      body_ += more;
    }
    if (body_.size() > size) {
      buffer_ = body_.substr(size);
      body_.resize(size);
    }
  }
  return head;
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size =
        ssl_ != nullptr
            ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
            : static_cast<int>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ERR_clear_error();
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool Peer::respond(std::string_view status, std::string_view body, std::string_view headers) {
  std::string text{"HTTP/1.1 "};
  text += status;
  text += "\r\n";
  text += headers;
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  text += body;
  return write(text);
}

void Peer::wait_for_end() {
  while (!read_some().empty()) {
  }
}

bool Peer::ends_within(std::chrono::milliseconds limit) const {
  pollfd socket{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&socket, 1, static_cast<int>(limit.count())) > 0;
}

void Peer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::shutdown(socket_, SHUT_RD);
}

void Peer::cut() { ::shutdown(socket_, SHUT_RDWR); }

std::string Peer::client_name() const {
  X509* certificate = SSL_get1_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  X509_free(certificate);
  return name.data();
}

std::string Peer::server_name() const {
  const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

ScriptedServer::ScriptedServer(Script script, std::optional<ServerTls> tls)
    : script_(std::move(script)) {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (tls) context_ = make_context(*tls);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(listener_ >= 0, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  require(::listen(listener_, 512) == 0, "listen");
  require(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
          "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread{[this] { accept_loop(); }};
}

ScriptedServer::~ScriptedServer() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock{mutex_};
    for (const Running& running : running_) {
      if (!running.done) ::shutdown(running.socket, SHUT_RDWR);
    }
  }
  running_.clear();
  ::close(listener_);
}

std::string ScriptedServer::url(std::string_view host) const {
  return (context_ ? "https://" : "http://") + std::string{host} + ":" + std::to_string(port_);
}

void ScriptedServer::use(const ServerTls& tls) {
  auto context = make_context(tls);
  const std::lock_guard lock{mutex_};
  context_ = std::move(context);
}

void ScriptedServer::accept_loop() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++accepted_;
    ++open_;
    const std::lock_guard lock{mutex_};
    std::erase_if(running_, [](const Running& running) { return running.done; });
    Running& running = running_.emplace_back();
    running.socket = socket;
    running.thread = std::jthread{[this, &running, socket] { serve(running, socket); }};
  }
}

void ScriptedServer::serve(Running& running, int socket) {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock{mutex_};
    context = context_;
  }
  {
    Peer peer{socket, context.get()};
    if (peer.handshake()) {
      script_(peer);
      if (peer.ssl() != nullptr) SSL_shutdown(peer.ssl());
    }
  }
  ERR_clear_error();
  const std::lock_guard lock{mutex_};
  running.done = true;
  ::close(socket);
  --open_;
}

std::string chunk(std::string_view bytes) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + std::string{bytes} + "\r\n";
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  require(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK,
          "deflateInit2");
  std::string result(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(result.size() - stream.avail_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace kube::test
