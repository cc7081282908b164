// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Signs JSON web tokens (ES256) with a key generated on construction, and verifies them.
/// Thread safety: all methods, from any thread.
class TokenSigner {
 public:
  /// Throws Error if OpenSSL cannot generate a key.
  TokenSigner();
  ~TokenSigner();

  [[nodiscard]] std::string sign(const Value& claims) const;
  /// Returns the claims of a token signed by this object, or null. Does not check the claims.
  [[nodiscard]] Ref<Value> verify(std::string_view token) const;
  /// Returns the public key as a JSON web key set.
  [[nodiscard]] const std::string& key_set() const noexcept { return key_set_; }

 private:
  struct Key;
  std::unique_ptr<const Key> key_;
  std::string key_id_;
  std::string key_set_;
};

}  // namespace kube::testkit::detail
