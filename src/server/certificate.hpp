// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/tls_source.hpp"
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/config/config.hpp>

#include <openssl/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "message.hpp"

namespace kube::server {

/// The certificate and key of a server, from PEM text or from files that are read again. New
/// connections use the newest that is valid. The CA, if any, is the one of client certificates.
///
/// Thread safety: all methods may be called from any thread.
class Certificate {
 public:
  /// `http2` is whether HTTP/2 is offered by ALPN. Throws kube::Error if something is missing,
  /// malformed or contradictory. `clock` must outlive it.
  Certificate(TlsConfig config, bool http2, Clock& clock = system_clock(), Logger log = {});

  [[nodiscard]] std::shared_ptr<SSL_CTX> context() const;
  [[nodiscard]] bool has_files() const noexcept { return source_.has_certificate_files(); }
  /// Reads the files again, if it has any. If they are not usable, logs that and keeps the old
  /// content. A server calls it every ten seconds. Blocks while it reads.
  void reload();
  /// Replaces certificate and key, as PEM, of a server that has no files. Throws kube::Error if
  /// they are not valid, and keeps the old ones.
  void replace(std::string certificate, SecretText key);

 private:
  void use(const detail::TlsSource::Current& current);

  const bool http2_;
  const Logger log_;
  detail::TlsSource source_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<const TlsMaterial> material_;
  std::shared_ptr<SSL_CTX> context_;
};

/// Returns the certificate that the client of a TLS connection has sent.
[[nodiscard]] std::optional<PeerCertificate> peer_certificate(const SSL& ssl);

}  // namespace kube::server
