// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/rbac/v1.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/requests/engine.hpp"

/// The meaning of a rule of a Role or ClusterRole.
namespace kube::testkit::detail {

/// The wildcard for verbs, API groups, resources and URLs.
inline constexpr std::string_view kEverything = "*";

/// Returns whether the rule allows the request, in the scope where the rule applies (RB-3 to RB-8).
[[nodiscard]] bool allows(const rbac::v1::PolicyRule& rule, const AccessRequest& access);

/// Returns the rights of `wanted` that `held` does not include (RB-27). Verbs of the same resource
/// are merged into one rule.
[[nodiscard]] std::vector<rbac::v1::PolicyRule> missing_rights(
    std::span<const rbac::v1::PolicyRule> held, const List<rbac::v1::PolicyRule>& wanted);

/// Returns `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` (RB-24).
[[nodiscard]] std::string rule_text(const rbac::v1::PolicyRule& rule);
/// Returns `["a" "b"]`.
[[nodiscard]] std::string list_text(std::span<const std::string> texts);

}  // namespace kube::testkit::detail
