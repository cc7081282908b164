// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// A certificate and its key, both PEM.
struct Certificate {
  std::string certificate;
  std::string key;
};

/// An in-memory certificate authority. Construction takes a few milliseconds.
///
/// Thread safety: const methods, from any thread. Throws kube::Error if OpenSSL fails.
class TlsAuthority {
 public:
  TlsAuthority();
  ~TlsAuthority();
  TlsAuthority(const TlsAuthority&) = delete;
  TlsAuthority& operator=(const TlsAuthority&) = delete;

  [[nodiscard]] const std::string& ca_pem() const noexcept { return ca_pem_; }
  /// Issues a server certificate for localhost, both loopback addresses, the usual names of an API
  /// server, and `address`.
  [[nodiscard]] Certificate issue_server(std::string_view address) const;
  /// Issues a client certificate with the user as common name and the groups as organizations
  /// (AU-5).
  [[nodiscard]] Certificate issue_client(std::string_view user,
                                         const std::vector<std::string>& groups) const;

 private:
  struct Material;
  std::unique_ptr<Material> material_;
  std::string ca_pem_;
};

}  // namespace kube::testkit::detail
