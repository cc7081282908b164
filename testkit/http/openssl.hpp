// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

/// Deleter for an OpenSSL object: `std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>`.
template <auto Free>
struct OpenSslDeleter {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

/// Throws Error with "OpenSSL cannot {what}" if `good` is false.
inline void check_openssl(bool good, const char* what) {
  if (!good) throw Error(fmt::format("OpenSSL cannot {}", what));
}

}  // namespace kube::testkit::detail
