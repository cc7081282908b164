// SPDX-License-Identifier: Apache-2.0
#include "testkit/rbac/rbac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "testkit/rbac/policy_rules.hpp"

namespace kube::testkit::detail {

namespace {

using rbac::v1::ClusterRole;
using rbac::v1::ClusterRoleBinding;
using rbac::v1::PolicyRule;
using rbac::v1::Role;
using rbac::v1::RoleBinding;
using rbac::v1::RoleRef;
using rbac::v1::Subject;

/// The objects of a collection by key. `T` is their type.
template <typename T>
using ObjectMap = std::map<std::string, Ref<T>, std::less<>>;

template <typename T>
ObjectMap<T> objects_of(const Store& store, const Collection& collection) {
  ObjectMap<T> objects;
  for (const auto& [key, object] : store.list(collection, {}).objects) {
    objects.emplace(key, object.template as<T>());
  }
  return objects;
}

std::string key_in(std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}", namespace_, name);
}

std::string subject_text(const Subject& subject, std::string_view namespace_) {
  if (subject.kind != "ServiceAccount") {
    return fmt::format("{} \"{}\"", subject.kind.view(), subject.name.view());
  }
  return fmt::format("ServiceAccount \"{}/{}\"", subject.name.view(), namespace_);
}

/// Returns the texts as Go prints several errors: `a`, or `[a, b]`; each text once.
std::string joined(const std::vector<std::string_view>& errors) {
  std::string all;
  std::vector<std::string_view> shown;
  for (const std::string_view error : errors) {
    if (std::ranges::find(shown, error) != shown.end()) continue;
    if (!shown.empty()) all += ", ";
    all += error;
    shown.push_back(error);
  }
  return shown.size() > 1 ? '[' + all + ']' : all;
}

}  // namespace

bool is_master(const User& user) {
  return std::ranges::find(user.groups, "system:masters") != user.groups.end();
}

/// A binding, as seen by one of its subjects.
struct Rbac::Grant {
  std::size_t binding = 0;  ///< the position among all bindings
  std::size_t subject = 0;  ///< the position in the binding
  /// Null if the role does not exist.
  const List<PolicyRule>* rules = nullptr;
  /// Describes the grant: `RoleBinding "b/ns" of Role "r" to User "u"`; or the missing role.
  std::string text;
};

struct Rbac::Index {
  struct Subjects {
    std::map<std::string, std::vector<Grant>, std::less<>> users;
    std::map<std::string, std::vector<Grant>, std::less<>> groups;
  };

  /// Adds a binding. `namespace_` is empty for a ClusterRoleBinding.
  void add(const meta::v1::ObjectMeta& metadata, const List<Subject>& subjects,
           const RoleRef& role) {
    const std::string_view namespace_ = metadata.namespace_;
    const List<PolicyRule>* rules = rules_of(role, namespace_);
    Subjects& known = scopes[std::string{namespace_}];
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const Subject& subject = subjects[i];
      const std::string_view home =
          subject.namespace_.empty() ? namespace_ : subject.namespace_.view();
      Grant grant{.binding = bindings, .subject = i, .rules = rules, .text = {}};
      grant.text = rules != nullptr ? grant_text(metadata, role, subject_text(subject, home))
                                    : missing_text(role);
      if (subject.kind == "Group") {
        known.groups[subject.name.str()].push_back(std::move(grant));
      } else if (subject.kind == "User") {
        known.users[subject.name.str()].push_back(std::move(grant));
      } else if (subject.kind == "ServiceAccount" && !home.empty()) {
        known.users[fmt::format("system:serviceaccount:{}:{}", home, subject.name.view())]
            .push_back(std::move(grant));
      }
    }
    ++bindings;
  }
  [[nodiscard]] const List<PolicyRule>* rules_of(const RoleRef& role,
                                                 std::string_view namespace_) const {
    if (role.kind == "ClusterRole") {
      const auto found = cluster_roles.find(role.name.view());
      return found == cluster_roles.end() ? nullptr : &found->second->rules;
    }
    const auto found = roles.find(key_in(namespace_, role.name));
    return found == roles.end() ? nullptr : &found->second->rules;
  }
  static std::string grant_text(const meta::v1::ObjectMeta& metadata, const RoleRef& role,
                                const std::string& subject) {
    const bool local = !metadata.namespace_.empty();
    return fmt::format("{}RoleBinding \"{}{}{}\" of {} \"{}\" to {}", local ? "" : "Cluster",
                       metadata.name.view(), local ? "/" : "", metadata.namespace_.view(),
                       role.kind.view(), role.name.view(), subject);
  }
  static std::string missing_text(const RoleRef& role) {
    return fmt::format("{}.{} \"{}\" not found",
                       role.kind == "ClusterRole" ? "clusterrole" : "role", kRbacGroup,
                       role.name.view());
  }

  /// Collection::changes() of roles and bindings, when the index was made.
  std::array<std::uint64_t, 4> changes = {};
  ObjectMap<ClusterRole> cluster_roles;
  ObjectMap<Role> roles;
  /// By namespace; those of the cluster under "".
  std::map<std::string, Subjects, std::less<>> scopes;
  std::size_t bindings = 0;
};

Rbac::Rbac(Store& store)
    : store_(store),
      cluster_roles_(store.collection({kRbacGroup, "clusterroles"})),
      roles_(store.collection({kRbacGroup, "roles"})),
      cluster_bindings_(store.collection({kRbacGroup, "clusterrolebindings"})),
      bindings_(store.collection({kRbacGroup, "rolebindings"})) {}

Rbac::~Rbac() = default;

std::shared_ptr<const Rbac::Index> Rbac::current() const {
  const std::lock_guard lock{mutex_};
  const std::array<std::uint64_t, 4> changes{cluster_roles_.changes(), roles_.changes(),
                                             cluster_bindings_.changes(), bindings_.changes()};
  if (index_ == nullptr || index_->changes != changes) {
    // The objects are read after the counters, so they are at least as new.
    auto next = std::make_shared<Index>();
    next->changes = changes;
    next->cluster_roles = objects_of<ClusterRole>(store_, cluster_roles_);
    next->roles = objects_of<Role>(store_, roles_);
    for (const auto& [key, one] : objects_of<ClusterRoleBinding>(store_, cluster_bindings_)) {
      next->add(one->metadata, one->subjects, one->role_ref);
    }
    for (const auto& [key, one] : objects_of<RoleBinding>(store_, bindings_)) {
      next->add(one->metadata, one->subjects, one->role_ref);
    }
    index_ = std::move(next);
  }
  return index_;
}

std::vector<const Rbac::Grant*> Rbac::grants_of(const Index& index, const User& user,
                                                std::string_view namespace_) {
  std::vector<const Grant*> grants;
  const auto add = [&](const auto& subjects, const std::string& name) {
    const auto found = subjects.find(name);
    if (found == subjects.end()) return;
    for (const Grant& grant : found->second) grants.push_back(&grant);
  };
  const auto add_scope = [&](std::string_view scope) {
    const auto found = index.scopes.find(scope);
    if (found == index.scopes.end()) return;
    add(found->second.users, user.name);
    for (const std::string& group : user.groups) add(found->second.groups, group);
  };
  add_scope("");
  if (!namespace_.empty()) add_scope(namespace_);
  std::ranges::sort(grants, {}, [](const Grant* grant) {
    return std::pair{grant->binding, grant->subject};
  });
  const auto same = std::ranges::unique(grants, {}, &Grant::binding);
  grants.erase(same.begin(), same.end());
  return grants;
}

AccessDecision Rbac::decide(const AccessRequest& access) const {
  if (is_master(access.user)) return {};
  const std::shared_ptr<const Index> index = current();
  std::vector<std::string_view> missing;
  const std::string_view scope = access.is_resource() ? access.namespace_ : std::string_view{};
  for (const Grant* grant : grants_of(*index, access.user, scope)) {
    if (grant->rules == nullptr) {
      missing.push_back(grant->text);
    } else if (std::ranges::any_of(*grant->rules, [&](const PolicyRule& rule) {
                 return allows(rule, access);
               })) {
      return {.allowed = true, .reason = "RBAC: allowed by " + grant->text};
    }
  }
  return {.allowed = false, .reason = missing.empty() ? "" : "RBAC: " + joined(missing)};
}

Rbac::UserRules Rbac::rules_for(const User& user, std::string_view namespace_) const {
  const std::shared_ptr<const Index> index = current();
  UserRules result;
  std::vector<std::string_view> missing;
  for (const Grant* grant : grants_of(*index, user, namespace_)) {
    if (grant->rules == nullptr) {
      missing.push_back(grant->text);
    } else {
      result.rules.insert(result.rules.end(), grant->rules->begin(), grant->rules->end());
    }
  }
  result.problem = joined(missing);
  return result;
}

std::optional<List<PolicyRule>> Rbac::rules_of(const RoleRef& role,
                                               std::string_view namespace_) const {
  const std::shared_ptr<const Index> index = current();
  const List<PolicyRule>* rules = index->rules_of(role, namespace_);
  return rules == nullptr ? std::nullopt : std::optional{*rules};
}

}  // namespace kube::testkit::detail
