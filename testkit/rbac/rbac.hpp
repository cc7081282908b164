// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/rbac/v1.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/requests/engine.hpp"
#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// The API group of roles and bindings.
inline constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";

/// Returns whether the user is in system:masters, who may do everything (RB-16).
[[nodiscard]] bool is_master(const User& user);

/// Role-based access control: decides by the Roles, ClusterRoles and bindings in the store (RB-1).
///
/// They are indexed by subject. The index is made again by the first request after a change of a
/// role or binding, so that a change takes effect at once (RB-13).
///
/// Thread safety: all methods, from any thread.
class Rbac {
 public:
  explicit Rbac(Store& store);
  ~Rbac();

  /// If the request is allowed, the reason names the binding (RB-30). Otherwise it names roles that
  /// do not exist, and is empty if there are none (RB-12).
  [[nodiscard]] AccessDecision decide(const AccessRequest& access) const;

  struct UserRules {
    std::vector<rbac::v1::PolicyRule> rules;
    /// Names the roles that bindings of the user refer to and that do not exist; else empty.
    std::string problem;
  };
  /// Returns the rules that apply to a user in a namespace or, if it is empty, in all of them.
  [[nodiscard]] UserRules rules_for(const User& user, std::string_view namespace_) const;

  /// Returns the rules of the role that a binding in `namespace_` refers to; nullopt if it does not
  /// exist.
  [[nodiscard]] std::optional<List<rbac::v1::PolicyRule>> rules_of(
      const rbac::v1::RoleRef& role, std::string_view namespace_) const;

 private:
  struct Grant;
  struct Index;

  /// Returns the index of the current roles and bindings.
  [[nodiscard]] std::shared_ptr<const Index> current() const;
  /// Returns the grants of a user: one for each binding, in the order of their names, those of the
  /// cluster first.
  [[nodiscard]] static std::vector<const Grant*> grants_of(const Index& index, const User& user,
                                                           std::string_view namespace_);

  Store& store_;
  Collection& cluster_roles_;
  Collection& roles_;
  Collection& cluster_bindings_;
  Collection& bindings_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Index> index_;  // guarded by mutex_
};

}  // namespace kube::testkit::detail
