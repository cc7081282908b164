// SPDX-License-Identifier: Apache-2.0
#include "dial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "proxy.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;
using std::chrono::microseconds;

constexpr std::size_t kRecord = std::size_t{16} << 10;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string result{text};
  curl_free(text);
  return result;
}

Url parse_url(const std::string& text, const char* scheme, const char* what) {
  Url url{curl_url()};
  if (url == nullptr) throw std::bad_alloc();
  const std::string full = text.find("://") == std::string::npos ? scheme + text : text;
  const CURLUcode code =
      curl_url_set(url.get(), CURLUPART_URL, full.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (code != CURLUE_OK) {
    // The text is not repeated: there may be a password in it.
    throw TransportError(Kind::kProtocol,
                         fmt::format("{} is not a URL: {}", what, curl_url_strerror(code)));
  }
  return url;
}

/// Where an SSL_CTX keeps its Dial.
int dial_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

curl_blob blob(const std::string& text) {
  return {.data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
}

}  // namespace

Origin parse_origin(const TransportOptions& options) {
  const Url url = parse_url(options.base_url, "https://", "the address of the server");
  Origin origin;
  origin.scheme = part(url.get(), CURLUPART_SCHEME);
  if (origin.scheme != "https" && origin.scheme != "http") {
    throw TransportError(Kind::kProtocol, "the address of the server is neither http nor https");
  }
  origin.host = part(url.get(), CURLUPART_HOST);
  const std::string port = part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  origin.port = std::stoi(port);
  origin.path = part(url.get(), CURLUPART_PATH);
  while (origin.path.ends_with('/')) origin.path.pop_back();
  const bool usual = port == (origin.scheme == "https" ? "443" : "80");
  origin.authority = usual ? origin.host : origin.host + ":" + port;
  origin.name = origin.scheme + "://" + origin.host + ":" + port;

  origin.proxy = options.proxy_url.empty()
                     ? proxy_from_environment(origin.scheme, origin.host, origin.port)
                     : options.proxy_url;
  if (!origin.proxy.empty()) {
    const Url proxy = parse_url(origin.proxy, "http://", "the address of the proxy");
    const std::string scheme = part(proxy.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https" && scheme != "socks5" && scheme != "socks5h") {
      throw TransportError(Kind::kProtocol,
                           fmt::format("proxies of the kind {} are not known; use http, https or "
                                       "socks5",
                                       scheme));
    }
    // As in Go, the proxy looks the name up.
    if (scheme == "socks5") origin.proxy.replace(0, 6, "socks5h");
  }
  return origin;
}

Dial::Dial(CURLM* multi, const Origin& origin, const TransportOptions& options,
           std::shared_ptr<const TlsMaterial> material)
    : multi_(multi),
      origin_(origin),
      options_(options),
      material_(std::move(material)),
      started_(system_clock().now()),
      easy_(curl_easy_init()) {
  if (easy_ == nullptr) throw std::bad_alloc();
  try {
    configure();
  } catch (...) {
    curl_slist_free_all(connect_to_);
    curl_easy_cleanup(easy_);
    throw;
  }
  curl_multi_add_handle(multi_, easy_);
}

Dial::~Dial() {
  curl_multi_remove_handle(multi_, easy_);
  curl_easy_cleanup(easy_);
  curl_slist_free_all(connect_to_);
}

template <typename Value>
void Dial::set(CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(easy_, option, value);
  if (code != CURLE_OK) {
    throw TransportError(Kind::kConnect,
                         fmt::format("{}: libcurl refuses option {}: {}", origin_.name,
                                     static_cast<int>(option), curl_easy_strerror(code)));
  }
}

void Dial::configure() {
  std::string url = origin_.name;
  if (origin_.scheme == "https" && !material_->server_name.empty()) {
    // The URL has the name for SNI and for the check of the certificate; the connection goes elsewhere.
    url = fmt::format("https://{}:{}", material_->server_name, origin_.port);
    connect_to_ =
        curl_slist_append(nullptr, fmt::format("::{}:{}", origin_.host, origin_.port).c_str());
    if (connect_to_ == nullptr) throw std::bad_alloc();
    set(CURLOPT_CONNECT_TO, connect_to_);
  }
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_ERRORBUFFER, detail_.data());
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // A name lookup that nobody waits for any more must not stop the loop.
  set(CURLOPT_QUICK_EXIT, 1L);
  // Ours end earlier, and tell which step it was.
  set(CURLOPT_CONNECTTIMEOUT_MS,
      options_.connect_timeout.count() == 0 || options_.tls_handshake_timeout.count() == 0
          ? 0x7fffffffL
          : static_cast<long>((options_.connect_timeout + options_.tls_handshake_timeout).count()) +
                1000L);
  set(CURLOPT_PROXY, origin_.proxy.c_str());
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_HTTPPROXYTUNNEL, 1L);
  set(CURLOPT_SOCKOPTDATA, static_cast<void*>(this));
  set(CURLOPT_SOCKOPTFUNCTION, &Dial::on_socket);
  if (options_.tcp_keep_alive.count() > 0) {
    const auto seconds = std::max(
        1L, static_cast<long>(
                std::chrono::duration_cast<std::chrono::seconds>(options_.tcp_keep_alive).count()));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, seconds);
    set(CURLOPT_TCP_KEEPINTVL, seconds);
  }
  configure_tls();
}

void Dial::configure_tls() {
  const TlsMaterial& tls = *material_;
  const long verify = tls.insecure_skip_verify ? 0L : 1L;
  set(CURLOPT_SSL_VERIFYPEER, verify);
  set(CURLOPT_SSL_VERIFYHOST, 2 * verify);
  set(CURLOPT_PROXY_SSL_VERIFYPEER, verify);
  set(CURLOPT_PROXY_SSL_VERIFYHOST, 2 * verify);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);  // a resumed session is not verified again
  set(CURLOPT_SSL_ENABLE_ALPN, 0L);      // what is offered is decided in on_ssl_context()
  set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(this));
  set(CURLOPT_SSL_CTX_FUNCTION, &Dial::on_ssl_context);
  if (tls.has_ca) {
    for (const CURLoption option :
         {CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
      set(option, static_cast<char*>(nullptr));
    }
    if (!tls.ca.empty()) {
      curl_blob ca = blob(tls.ca);
      set(CURLOPT_CAINFO_BLOB, &ca);
      set(CURLOPT_PROXY_CAINFO_BLOB, &ca);
    }
  }
  if (!tls.certificate.empty()) {
    curl_blob certificate = blob(tls.certificate);
    curl_blob key = blob(tls.key);
    set(CURLOPT_SSLCERTTYPE, "PEM");
    set(CURLOPT_SSLCERT_BLOB, &certificate);
    set(CURLOPT_SSLKEYTYPE, "PEM");
    set(CURLOPT_SSLKEY_BLOB, &key);
    set(CURLOPT_KEYPASSWD, "");  // else OpenSSL would ask at the terminal
  }
}

/// What the peer complains of. libcurl may have lost its text: it keeps the first of each connection.
void Dial::on_ssl_info(const SSL* ssl, int where, int value) noexcept {
  constexpr int kCloseNotify = 0;
  constexpr int kCertificateRequired = 116;
  const int code = value & 0xff;
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || code == kCloseNotify) return;
  auto* dial = static_cast<Dial*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), dial_index()));
  dial->alert_ =
      code == kCertificateRequired ? "certificate required" : SSL_alert_desc_string_long(value);
}

CURLcode Dial::on_ssl_context(CURL*, void* context, void* self) noexcept {
  auto* dial = static_cast<Dial*>(self);
  auto* ssl = static_cast<SSL_CTX*>(context);
  dial->tls_started_ = system_clock().now();
  SSL_CTX_set_ex_data(ssl, dial_index(), dial);
  SSL_CTX_set_info_callback(ssl, on_ssl_info);
  SSL_CTX_set_read_ahead(ssl, 1);  // fewer system calls: receive() always empties it
  // A proxy with TLS comes first, and only tunnels.
  const bool for_proxy = dial->tls_contexts_++ == 0 && dial->origin_.proxy.starts_with("https://");
  static constexpr std::string_view kBoth{"\x02h2\x08http/1.1"};
  static constexpr std::string_view kHttp1{"\x08http/1.1"};
  const std::string_view offer = for_proxy || dial->options_.disable_http2 ? kHttp1 : kBoth;
  return SSL_CTX_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(offer.data()),
                                 static_cast<unsigned>(offer.size())) == 0
             ? CURLE_OK
             : CURLE_ABORTED_BY_CALLBACK;
}

int Dial::on_socket(void* self, curl_socket_t socket, curlsocktype) noexcept {
  auto* dial = static_cast<Dial*>(self);
  dial->has_address_ = true;
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);  // not for programs that are started meanwhile
  const auto limit = dial->options_.tcp_user_timeout;
  if (limit.count() > 0) {
    const auto milliseconds = static_cast<unsigned>(limit.count());
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  }
  return CURL_SOCKOPT_OK;
}

microseconds Dial::time(CURLINFO what) const {
  curl_off_t value = 0;
  curl_easy_getinfo(easy_, what, &value);
  return microseconds{value};
}

Dial::TimePoint Dial::deadline() const {
  const auto limit = tls_started_ ? options_.tls_handshake_timeout : options_.connect_timeout;
  return limit.count() == 0 ? TimePoint::max() : tls_started_.value_or(started_) + limit;
}

TransportError Dial::timeout_error() const {
  if (tls_started_) {
    return {Kind::kConnect,
            fmt::format("{}: no end of the TLS handshake within {} ms; does that port speak TLS?",
                        origin_.name, options_.tls_handshake_timeout.count())};
  }
  return {Kind::kConnect,
          fmt::format("{}: no {} within {} ms; check address, routes and firewalls", origin_.name,
                      has_address_ ? "connection" : "answer about the host's name",
                      options_.connect_timeout.count())};
}

TransportError Dial::error(CURLcode code) const {
  const char* text = detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code);
  DialFailure failure{.code = code,
                      .detail = alert_ != nullptr ? fmt::format("TLS alert: {}", alert_) : text,
                      .has_certificate = !material_->certificate.empty()};
  curl_easy_getinfo(easy_, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
  curl_easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &failure.connect_status);
  return describe(origin_, failure);
}

void Dial::connected() {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &socket);
  socket_ = static_cast<int>(socket);
  // libcurl lets nobody look at a connection before the first call that uses it.
  early_.resize(kRecord);
  std::size_t size = 0;
  early_result_ = receive(early_.data(), early_.size(), size);
  early_.resize(size);
}

const SSL* Dial::ssl() const {
  curl_tlssessioninfo* info = nullptr;
  if (origin_.scheme != "https" ||
      curl_easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == nullptr) {
    return nullptr;
  }
  return static_cast<const SSL*>(info->internals);
}

bool Dial::negotiated_http2() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  if (const SSL* tls = ssl()) SSL_get0_alpn_selected(tls, &name, &size);
  return std::string_view{reinterpret_cast<const char*>(name), size} == "h2";
}

Dial::Result Dial::receive(char* buffer, std::size_t size, std::size_t& received) {
  if (early_result_) {
    received = early_.copy(buffer, size);
    early_.clear();
    const Result result = *std::exchange(early_result_, std::nullopt);
    if (result != Result::kAgain) return result;
  }
  detail_[0] = '\0';
  const CURLcode code = curl_easy_recv(easy_, buffer, size, &received);
  if (code == CURLE_AGAIN) return Result::kAgain;
  if (code != CURLE_OK) throw lost("reading", code);
  if (received > 0) return Result::kBytes;
  // libcurl takes any end for a proper one. Without the goodbye of TLS, somebody may have cut the line.
  const SSL* tls = ssl();
  if (tls != nullptr && (SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN) == 0) {
    throw TransportError(Kind::kConnectionLost,
                         origin_.name + ": the connection was closed without the end of TLS");
  }
  return Result::kEnd;
}

std::size_t Dial::send(std::string_view bytes) {
  detail_[0] = '\0';
  std::size_t count = 0;
  const CURLcode code = curl_easy_send(easy_, bytes.data(), bytes.size(), &count);
  if (code == CURLE_AGAIN) return 0;
  if (code != CURLE_OK) throw lost("writing", code);
  return count;
}

TransportError Dial::lost(const char* when, CURLcode code) const {
  // With TLS 1.3 the server says only now what it thinks of our certificate.
  if (alert_ != nullptr) return error(CURLE_SSL_CONNECT_ERROR);
  return {Kind::kConnectionLost,
          fmt::format("{}: connection lost while {}: {}", origin_.name, when,
                      detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code))};
}

}  // namespace kube::detail
