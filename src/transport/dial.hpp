// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/config/credentials.hpp>
#include <kube/transport/curl_transport.hpp>

#include <curl/curl.h>
#include <openssl/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// Where connections go.
struct Origin {
  std::string scheme;
  std::string host;
  int port = 0;
  std::string path;
  /// As it stands in Host: without the port if it is the usual one.
  std::string authority;
  /// "https://10.0.0.1:6443", for messages.
  std::string name;
  std::string proxy;
};

/// Reads base_url and finds the proxy. Throws TransportError.
[[nodiscard]] Origin parse_origin(const TransportOptions& options);

/// One connection, made and owned by libcurl: name lookup, TCP, proxy, TLS. Afterwards bytes go through
/// send() and receive(). It belongs to the multi handle that it was given, and to that handle's thread.
class Dial {
 public:
  using TimePoint = Clock::TimePoint;
  enum class Result { kBytes, kAgain, kEnd };

  Dial(CURLM* multi, const Origin& origin, const TransportOptions& options,
       std::shared_ptr<const TlsMaterial> material);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  [[nodiscard]] CURL* handle() const noexcept { return easy_; }
  [[nodiscard]] const std::shared_ptr<const TlsMaterial>& material() const noexcept {
    return material_;
  }
  [[nodiscard]] TimePoint started() const noexcept { return started_; }

  // --- while it is being made -----------------------------------------------------------------------------
  /// The time at which the present step has taken too long.
  [[nodiscard]] TimePoint deadline() const;
  [[nodiscard]] TransportError timeout_error() const;
  /// Why it was not made.
  [[nodiscard]] TransportError error(CURLcode code) const;
  /// It was made: takes the socket over. Throws TransportError if the peer has closed it already.
  void connected();

  // --- afterwards -----------------------------------------------------------------------------------------
  [[nodiscard]] int socket() const noexcept { return socket_; }
  [[nodiscard]] bool negotiated_http2() const;
  /// Throws TransportError if the connection is broken.
  [[nodiscard]] Result receive(char* buffer, std::size_t size, std::size_t& received);
  /// Returns how many bytes were taken, perhaps none. Throws TransportError.
  [[nodiscard]] std::size_t send(std::string_view bytes);

  [[nodiscard]] std::chrono::microseconds resolve_time() const {
    return time(CURLINFO_NAMELOOKUP_TIME_T);
  }
  [[nodiscard]] std::chrono::microseconds connect_time() const {
    return time(CURLINFO_CONNECT_TIME_T);
  }
  [[nodiscard]] std::chrono::microseconds tls_time() const {
    return time(CURLINFO_APPCONNECT_TIME_T);
  }

 private:
  template <typename Value>
  void set(CURLoption option, Value value);
  void configure();
  void configure_tls();
  [[nodiscard]] std::chrono::microseconds time(CURLINFO what) const;
  [[nodiscard]] const SSL* ssl() const;
  [[nodiscard]] TransportError lost(const char* when, CURLcode code) const;
  static void on_ssl_info(const SSL* ssl, int where, int value) noexcept;
  static CURLcode on_ssl_context(CURL* easy, void* context, void* self) noexcept;
  static int on_socket(void* self, curl_socket_t socket, curlsocktype purpose) noexcept;

  CURLM* const multi_;
  const Origin& origin_;
  const TransportOptions& options_;
  const std::shared_ptr<const TlsMaterial> material_;
  const TimePoint started_;
  CURL* easy_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  bool has_address_ = false;
  std::optional<TimePoint> tls_started_;
  int tls_contexts_ = 0;
  const char* alert_ = nullptr;
  int socket_ = -1;
  std::string early_;
  std::optional<Result> early_result_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
};

/// What to tell somebody whose connection could not be made.
struct DialFailure {
  CURLcode code = CURLE_OK;
  /// What libcurl says.
  std::string detail;
  /// X509_V_...
  long verify_result = 0;
  /// The status of the answer to CONNECT.
  long connect_status = 0;
  bool has_certificate = false;
};
[[nodiscard]] TransportError describe(const Origin& origin, const DialFailure& failure);

}  // namespace kube::detail
