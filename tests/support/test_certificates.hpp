// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace kube::test {

/// A certificate and its private key, both PEM.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};

struct CertificateOptions {
  std::string common_name = "test";
  /// Organizations of the subject: the groups of a client certificate's user.
  std::vector<std::string> organizations = {};
  /// Subject alternative names; IP addresses become IP entries.
  std::vector<std::string> names = {};
  std::chrono::system_clock::time_point not_before =
      std::chrono::system_clock::now() - std::chrono::hours{1};
  std::chrono::system_clock::time_point not_after =
      std::chrono::system_clock::now() + std::chrono::hours{24};
};

/// A certificate authority that is created in memory within a millisecond (EC keys). Throws
/// std::runtime_error if OpenSSL fails.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& common_name = "test authority");
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  /// The authority's certificate (PEM), the trust root of clients.
  [[nodiscard]] const std::string& certificate() const noexcept;
  [[nodiscard]] CertifiedKey issue_server(const CertificateOptions& options) const;
  /// Issues a server certificate for "localhost" and 127.0.0.1.
  [[nodiscard]] CertifiedKey issue_server() const;
  [[nodiscard]] CertifiedKey issue_client(const CertificateOptions& options) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::test
