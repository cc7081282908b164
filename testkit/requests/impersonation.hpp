// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "testkit/http/message.hpp"
#include "testkit/requests/engine.hpp"

namespace kube::testkit::detail {

struct Services;

/// Remembers by which mode of impersonation each user succeeded last. That mode is tried first, so
/// a refusal is worded accordingly (RB-19).
/// Thread safety: all methods, from any thread.
class ImpersonationModes {
 public:
  [[nodiscard]] std::optional<std::size_t> last(const std::string& user) const;
  void remember(const std::string& user, std::size_t mode);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> modes_;  // guarded by mutex_
};

/// Returns whether a request has impersonation headers.
[[nodiscard]] bool has_impersonation(const Headers& headers);
/// Returns the user that the request impersonates, or nullopt. `access` has the attributes of the
/// request and the authenticated user. Throws ApiError 400 or 403 (AU-6, RB-18).
[[nodiscard]] std::optional<User> impersonate(Services& services, const ServerRequest& request,
                                              const AccessRequest& access);

}  // namespace kube::testkit::detail
