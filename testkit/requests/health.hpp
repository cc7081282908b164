// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// `/healthz`, `/livez`, `/readyz` and the checks below them (HE-1).
/// Thread safety: all methods, from any thread.
class Health {
 public:
  Health();

  /// Makes a check fail or pass; one that does not exist is added to all endpoints.
  void set(std::string_view check, bool passes);
  /// Returns nullopt if the path is none of these.
  [[nodiscard]] std::optional<ServerResponse> serve(const RequestUrl& url) const;

 private:
  struct Check {
    std::string name;
    bool passes = true;
  };

  mutable std::mutex mutex_;
  std::vector<Check> checks_;  // guarded by mutex_; in the order of a real server
};

}  // namespace kube::testkit::detail
