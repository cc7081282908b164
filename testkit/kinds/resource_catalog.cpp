// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/resource_catalog.hpp"

#include <kube/api/registry.hpp>
#include <kube/api/resource_info.hpp>

#include <algorithm>
#include <array>

#include "testkit/kinds/builtin_schema.hpp"

namespace kube::testkit::detail {

namespace {

/// The order of groups in discovery; others follow alphabetically.
constexpr std::array kGroupOrder{"",
                                 "apiregistration.k8s.io",
                                 "apps",
                                 "events.k8s.io",
                                 "authentication.k8s.io",
                                 "authorization.k8s.io",
                                 "autoscaling",
                                 "batch",
                                 "certificates.k8s.io",
                                 "networking.k8s.io",
                                 "policy",
                                 "rbac.authorization.k8s.io",
                                 "storage.k8s.io",
                                 "admissionregistration.k8s.io",
                                 "apiextensions.k8s.io",
                                 "scheduling.k8s.io",
                                 "coordination.k8s.io",
                                 "node.k8s.io",
                                 "discovery.k8s.io",
                                 "resource.k8s.io",
                                 "flowcontrol.apiserver.k8s.io"};

std::size_t group_rank(std::string_view group) {
  return static_cast<std::size_t>(std::ranges::find(kGroupOrder, group) - kGroupOrder.begin());
}

std::vector<std::string> strings(std::span<const std::string_view> texts) {
  return {texts.begin(), texts.end()};
}

/// Returns the resource under which objects are stored: both Event resources share one collection
/// (BK-3).
GroupResource storage_of(const ResourceInfo& info) {
  if (info.group == "events.k8s.io") return {"", "events"};
  return {std::string{info.group}, std::string{info.plural}};
}

Resource make_builtin(const ApiKind& kind) {
  const ResourceInfo& info = *kind.resource;
  Resource resource;
  resource.group = info.group;
  resource.version = info.version;
  resource.kind = info.kind;
  resource.list_kind = info.list_kind;
  resource.plural = info.plural;
  resource.singular = info.singular;
  resource.namespaced = info.namespaced;
  resource.short_names = strings(info.short_names);
  resource.categories = strings(info.categories);
  resource.verbs = strings(info.verbs);
  for (const SubresourceInfo& sub : info.subresources) {
    resource.subresources.push_back({std::string{sub.name}, std::string{sub.group},
                                     std::string{sub.version}, std::string{sub.kind},
                                     strings(sub.verbs)});
  }
  resource.type = kind.type;
  resource.printer =
      std::make_shared<const TablePrinter>(TablePrinter::for_builtin(info.group, info.kind));
  resource.schema = builtin_schema(info.group, info.version, info.kind);
  return resource;
}

const Type* type_of_kind(std::string_view group, std::string_view version, std::string_view kind) {
  for (const ApiKind& candidate : api_kinds()) {
    if (candidate.resource != nullptr && candidate.resource->group == group &&
        candidate.resource->version == version && candidate.resource->kind == kind) {
      return candidate.type;
    }
  }
  return nullptr;
}

}  // namespace

bool Resource::has_verb(std::string_view verb) const noexcept {
  return std::ranges::find(verbs, verb) != verbs.end();
}

const Subresource* Resource::subresource(std::string_view name) const noexcept {
  for (const Subresource& candidate : subresources) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::shared_ptr<const Catalog> Catalog::builtin(Store& store) {
  std::vector<Resource> resources;
  for (const ApiKind& kind : api_kinds()) {
    if (kind.resource != nullptr && kind.resource->served_by_default) {
      resources.push_back(make_builtin(kind));
    }
  }
  // Objects are stored in the preferred version of their group.
  std::map<GroupResource, const Resource*> preferred;
  for (const Resource& resource : resources) {
    const Resource*& best = preferred[resource.group_resource()];
    if (best == nullptr || compare_versions(resource.version, best->version) > 0) best = &resource;
  }
  auto catalog = std::make_shared<Catalog>();
  Edited edited;
  for (const Resource& original : resources) {
    Resource resource = original;
    const Resource& stored = *preferred[resource.group_resource()];
    resource.storage_version = stored.version;
    resource.storage_type = stored.type;
    if (resource.group == "events.k8s.io") {
      resource.storage_version = "v1";
      resource.storage_type = type_of_kind("", "v1", "Event");
    }
    if (resource.has_verb("list")) {
      const ResourceInfo* info = nullptr;
      for (const ApiKind& kind : api_kinds()) {
        if (kind.type == resource.type) info = kind.resource;
      }
      resource.collection = &store.collection(storage_of(*info));
    }
    catalog->add(edited, std::make_shared<const Resource>(std::move(resource)));
  }
  return catalog;
}

std::shared_ptr<const Catalog> Catalog::with_changes(const std::vector<ResourcePtr>& gone,
                                                     const std::vector<ResourcePtr>& added) const {
  auto catalog = std::make_shared<Catalog>(*this);
  Edited edited;
  for (const ResourcePtr& resource : gone) {
    Versions& versions = catalog->edit(edited, resource->group);
    const auto in_version = versions.find(resource->version);
    if (in_version == versions.end()) continue;
    in_version->second.erase(resource->plural);
    if (in_version->second.empty()) versions.erase(in_version);
  }
  for (const ResourcePtr& resource : added) catalog->add(edited, resource);
  for (const auto& [group, versions] : edited) {
    if (!versions->empty()) continue;
    catalog->groups_.erase(group);
    std::erase(catalog->order_, group);
  }
  return catalog;
}

Catalog::Versions& Catalog::edit(Edited& edited, const std::string& group) {
  std::shared_ptr<Versions>& own = edited[group];
  if (own == nullptr) {
    own = std::make_shared<Versions>(versions(group));
    groups_[group] = own;
  }
  return *own;
}

void Catalog::add(Edited& edited, const ResourcePtr& resource) {
  const std::string& group = resource->group;
  if (std::ranges::find(order_, group) == order_.end()) {
    const auto key = [](const std::string& one) {
      return std::pair{group_rank(one), std::string_view{one}};
    };
    order_.insert(std::ranges::upper_bound(order_, key(group), {}, key), group);
  }
  edit(edited, group)[resource->version][resource->plural] = resource;
}

ResourcePtr Catalog::find(std::string_view group, std::string_view version,
                          std::string_view plural) const {
  const auto in_group = groups_.find(group);
  if (in_group == groups_.end()) return nullptr;
  const auto in_version = in_group->second->find(version);
  if (in_version == in_group->second->end()) return nullptr;
  const auto found = in_version->second.find(plural);
  return found == in_version->second.end() ? nullptr : found->second;
}

ResourcePtr Catalog::find(const GroupResource& resource) const {
  for (const auto& [version, resources] : versions(resource.group)) {
    const auto found = resources.find(resource.resource);
    if (found != resources.end()) return found->second;
  }
  return nullptr;
}

ResourcePtr Catalog::find_kind(std::string_view api_version, std::string_view kind) const {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  const std::string_view version =
      slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  const auto in_group = groups_.find(group);
  if (in_group == groups_.end()) return nullptr;
  const auto in_version = in_group->second->find(version);
  if (in_version == in_group->second->end()) return nullptr;
  for (const auto& [plural, resource] : in_version->second) {
    if (resource->kind == kind && resource->collection != nullptr) return resource;
  }
  return nullptr;
}

bool Catalog::has_group(std::string_view group) const { return groups_.contains(group); }

bool Catalog::has_version(std::string_view group, std::string_view version) const {
  const auto found = groups_.find(group);
  return found != groups_.end() && found->second->contains(version);
}

bool Catalog::is_builtin_group(std::string_view group) {
  return group_rank(group) < kGroupOrder.size();
}

const Catalog::Versions& Catalog::versions(std::string_view group) const {
  static const Versions kNone;
  const auto found = groups_.find(group);
  return found == groups_.end() ? kNone : *found->second;
}

std::vector<ResourcePtr> Catalog::all() const {
  std::vector<ResourcePtr> all;
  for (const std::string& group : order_) {
    for (const auto& [version, resources] : versions(group)) {
      for (const auto& [plural, resource] : resources) all.push_back(resource);
    }
  }
  return all;
}

}  // namespace kube::testkit::detail
