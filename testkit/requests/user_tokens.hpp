// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "testkit/requests/engine.hpp"

namespace kube::testkit::detail {

/// Users by bearer token (AU-4).
/// Thread safety: all methods, from any thread.
class UserTokens {
 public:
  using Users = std::map<std::string, User, std::less<>>;
  explicit UserTokens(Users users) : users_(std::move(users)) {}

  void add(std::string token, User user) {
    const std::lock_guard lock{mutex_};
    users_.insert_or_assign(std::move(token), std::move(user));
  }
  [[nodiscard]] std::optional<User> find(std::string_view token) const {
    const std::lock_guard lock{mutex_};
    const auto found = users_.find(token);
    return found == users_.end() ? std::nullopt : std::optional{found->second};
  }

 private:
  mutable std::mutex mutex_;
  Users users_;  // guarded by mutex_
};

}  // namespace kube::testkit::detail
