// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/requests/engine.hpp"
#include "testkit/requests/token_signer.hpp"
#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// The issuer of service account tokens, and their default audience.
inline constexpr const char* kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

/// Issues and validates service account tokens (AU-10).
/// Thread safety: all methods, from any thread.
class AccountTokens {
 public:
  AccountTokens(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  struct Account {
    std::string namespace_;
    std::string name;
    std::string uid;
  };
  /// The object whose deletion invalidates a token.
  struct Bound {
    std::string kind;  ///< "Pod", "Secret" or "Node"
    std::string name;
    std::string uid;
  };
  [[nodiscard]] std::string issue(const Account& account, const std::vector<std::string>& audiences,
                                  std::chrono::seconds lifetime, const std::optional<Bound>& bound,
                                  const std::string& id) const;

  struct Holder {
    User user;
    /// The requested audiences that the token is valid for.
    std::vector<std::string> audiences;
  };
  /// Returns the holder of a token. Returns nullopt if this server did not issue it, it is for none
  /// of the audiences, or it is no longer valid.
  [[nodiscard]] std::optional<Holder> check(std::string_view token,
                                            const std::vector<std::string>& audiences) const;
  [[nodiscard]] const std::string& key_set() const noexcept { return signer_.key_set(); }
  /// Returns the document at /.well-known/openid-configuration. `base` is the server's address.
  [[nodiscard]] static std::string configuration(std::string_view base);

 private:
  [[nodiscard]] bool exists(const char* resource, std::string_view namespace_,
                            const Value& reference) const;
  /// Returns whether the account and the bound object still exist.
  [[nodiscard]] bool is_alive(const Value& place) const;

  Store& store_;
  const Clock& clock_;
  TokenSigner signer_;
};

}  // namespace kube::testkit::detail
