// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "testkit/http/message.hpp"
#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// `/healthz`, `/livez`, `/readyz` and the checks below them (HE-1).
/// Thread safety: all methods, from any thread.
class Health {
 public:
  void set(std::string_view check, bool passes);
  /// Returns nullopt if the path is none of these.
  [[nodiscard]] std::optional<ServerResponse> serve(const RequestUrl& url) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, bool, std::less<>> checks_{
      {"etcd", true}, {"log", true}, {"ping", true}, {"poststarthook/crd-informer-synced", true}};
};

}  // namespace kube::testkit::detail
