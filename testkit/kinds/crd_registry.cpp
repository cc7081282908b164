// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/crd_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "testkit/kinds/conversion.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/conditions.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kCleanup = "customresourcecleanup.apiextensions.k8s.io";

std::string text(const Value& value) {
  return value.is_string() ? std::string{value.as_string()} : std::string{};
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < list.size(); ++i) all.push_back(text(list[i]));
  return all;
}

const Value* find_condition(const Value& definition, std::string_view type) {
  for (const Value& condition : definition.get_array("status.conditions")) {
    if (condition["type"] == Value{type}) return &condition;
  }
  return nullptr;
}

bool is_true(const Value& definition, std::string_view type) {
  const Value* condition = find_condition(definition, type);
  return condition != nullptr && (*condition)["status"] == Value{"True"};
}

std::string newer_version(const Value& definition, const std::string& version) {
  std::string best;
  for (const Value& candidate : definition.get_array("spec.versions")) {
    const std::string name = text(candidate["name"]);
    if (candidate["served"] != Value{true} || candidate["deprecated"] == Value{true}) continue;
    if (compare_versions(name, version) <= 0) continue;
    if (best.empty() || compare_versions(name, best) > 0) best = name;
  }
  return best;
}

std::string deprecation_of(const Value& definition, const Value& version) {
  if (version["deprecated"] != Value{true}) return {};
  if (version["deprecationWarning"].is_string()) return text(version["deprecationWarning"]);
  const std::string group = text(definition["spec"]["group"]);
  const std::string kind = text(definition["spec"]["names"]["kind"]);
  const std::string name = text(version["name"]);
  const std::string newer = newer_version(definition, name);
  std::string warning = fmt::format("{}/{} {} is deprecated", group, name, kind);
  if (!newer.empty()) warning += fmt::format("; use {}/{} {}", group, newer, kind);
  return warning;
}

/// Reads the names of a definition, from its spec or its status.
AcceptedNames names_of(const Value& names) {
  AcceptedNames found;
  found.plural = text(names["plural"]);
  found.singular = text(names["singular"]);
  found.short_names = texts(names["shortNames"]);
  found.kind = text(names["kind"]);
  found.list_kind = text(names["listKind"]);
  return found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return !name.empty() && std::ranges::find(names, name) != names.end();
}

/// Returns the condition reason and message if another definition of the group has `taken` one of
/// `names`.
std::optional<std::pair<std::string, std::string>> clash(const AcceptedNames& names,
                                                         const AcceptedNames& taken) {
  const std::vector<std::string> resources = taken.resources();
  const std::vector<std::string> kinds = taken.kinds();
  std::optional<std::pair<std::string, std::string>> found;
  const auto report = [&](const char* reason, const std::string& name) {
    found = {reason, fmt::format("\"{}\" is already in use", name)};
  };
  if (contains(resources, names.plural)) report("PluralConflict", names.plural);
  if (contains(resources, names.singular)) report("SingularConflict", names.singular);
  for (const std::string& name : names.short_names) {
    if (contains(resources, name)) report("ShortNamesConflict", name);
  }
  if (contains(kinds, names.kind)) report("KindConflict", names.kind);
  if (contains(kinds, names.list_kind)) report("ListKindConflict", names.list_kind);
  return found;
}

std::string scale_path(const Value& version, const char* member) {
  return text(version["subresources"]["scale"][member]);
}

}  // namespace

std::vector<std::string> AcceptedNames::resources() const {
  std::vector<std::string> all = short_names;
  all.push_back(plural);
  all.push_back(singular);
  return all;
}

std::vector<ResourcePtr> resources_of(Store& store, const Value& definition) {
  const Value& spec = definition["spec"];
  const Value& names = definition["status"]["acceptedNames"];
  std::string storage;
  for (const Value& version : definition.get_array("spec.versions")) {
    if (version["storage"] == Value{true}) storage = text(version["name"]);
  }
  std::vector<ResourcePtr> resources;
  for (const Value& version : definition.get_array("spec.versions")) {
    if (version["served"] != Value{true}) continue;
    Resource resource;
    resource.group = text(spec["group"]);
    resource.version = text(version["name"]);
    resource.kind = text(names["kind"]);
    resource.list_kind = text(names["listKind"]);
    resource.plural = text(names["plural"]);
    resource.singular = text(names["singular"]);
    resource.namespaced = spec["scope"] == Value{"Namespaced"};
    resource.short_names = texts(names["shortNames"]);
    resource.categories = texts(names["categories"]);
    resource.verbs = {"delete", "deletecollection", "get",    "list",
                      "patch",  "create",           "update", "watch"};
    resource.type = &type_of<Value>();
    resource.storage_type = resource.type;
    resource.storage_version = storage;
    resource.collection = &store.collection(resource.group_resource());
    resource.printer = std::make_shared<const TablePrinter>(
        TablePrinter::for_custom(version["additionalPrinterColumns"]));
    auto custom = std::make_shared<CustomVersion>();
    custom->storage_api_version = resource.group + '/' + storage;
    const Value& schema = version["schema"]["openAPIV3Schema"];
    custom->schema = std::make_shared<const StructuralSchema>(schema);
    custom->schema_id =
        static_cast<std::uint32_t>(std::hash<std::string>{}(json_text(schema))) | 1U;
    custom->has_status = version["subresources"]["status"].is_object();
    custom->has_scale = version["subresources"]["scale"].is_object();
    custom->spec_replicas_path = scale_path(version, "specReplicasPath");
    custom->status_replicas_path = scale_path(version, "statusReplicasPath");
    custom->label_selector_path = scale_path(version, "labelSelectorPath");
    for (std::size_t i = 0; i < version["selectableFields"].size(); ++i) {
      custom->selectable_fields.push_back(
          text(version["selectableFields"][i]["jsonPath"]).substr(1));
    }
    custom->deprecation = deprecation_of(definition, version);
    custom->terminating = !metadata_text(definition, "deletionTimestamp").empty();
    const std::vector<std::string> verbs{"get", "patch", "update"};
    if (custom->has_scale) {
      resource.subresources.push_back({"scale", "autoscaling", "v1", "Scale", verbs});
    }
    if (custom->has_status) {
      resource.subresources.push_back(
          {"status", resource.group, resource.version, resource.kind, verbs});
    }
    resource.custom = std::move(custom);
    resources.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
  return resources;
}

CrdRegistry::CrdRegistry(Services& services, Rest& rest)
    : services_(services),
      rest_(rest),
      definitions_(
          services.store.collection({"apiextensions.k8s.io", "customresourcedefinitions"})) {}

void CrdRegistry::definition_changed(const std::string& name) {
  update_status(name);
  const StoredObject stored = services_.store.get(definitions_, name);
  adopt({{name, stored}});
  if (stored && !stored.metadata_text("deletionTimestamp").empty()) {
    clean_up(name, *stored.value());
  }
}

std::optional<std::pair<std::string, std::string>> CrdRegistry::conflict_of(
    const std::string& name, const Value& definition) const {
  const AcceptedNames names = names_of(definition["spec"]["names"]);
  const std::string group = text(definition["spec"]["group"]);
  // With several conflicts, the definition with the greatest name is reported.
  const std::string* last = nullptr;
  const auto look = [&](const NameIndex& index, const std::vector<std::string>& candidates) {
    for (const std::string& candidate : candidates) {
      const auto found = index.find({group, candidate});
      if (found == index.end()) continue;
      auto owner = found->second.rbegin();
      if (owner != found->second.rend() && *owner == name) ++owner;
      if (owner == found->second.rend()) continue;
      if (last == nullptr || *owner > *last) last = &*owner;
    }
  };
  look(resource_owners_, names.resources());
  look(kind_owners_, names.kinds());
  if (last == nullptr) return std::nullopt;
  return clash(names, known_.find(*last)->second.names);
}

void CrdRegistry::update_status(const std::string& name) {
  const std::string now = services_.now_text();
  rest_.edit(definitions_, name, [&](Value& definition) {
    const auto conflict = conflict_of(name, definition);
    const Value before = std::as_const(definition)["status"];
    if (!std::as_const(definition)["status"].is_object()) definition["status"] = Value::object();
    if (conflict) {
      set_condition(definition, "NamesAccepted", false, conflict->first, conflict->second, now);
      if (!is_true(definition, "Established")) {
        set_condition(definition, "Established", false, "NotAccepted", "not all names are accepted",
                      now);
      }
    } else {
      definition["status"]["acceptedNames"] = std::as_const(definition)["spec"]["names"];
      set_condition(definition, "NamesAccepted", true, "NoConflicts", "no conflicts found", now);
      if (!is_true(definition, "Established")) {
        set_condition(definition, "Established", true, "InitialNamesAccepted",
                      "the initial names have been accepted", now);
      }
    }
    if (!metadata_text(definition, "deletionTimestamp").empty()) {
      set_condition(definition, "Terminating", true, "InstanceDeletionInProgress",
                    "instances are being deleted", now);
    }
    std::vector<std::string> stored = texts(std::as_const(definition)["status"]["storedVersions"]);
    for (const Value& version : std::as_const(definition).get_array("spec.versions")) {
      const std::string candidate = text(version["name"]);
      if (version["storage"] == Value{true} &&
          std::ranges::find(stored, candidate) == stored.end()) {
        stored.push_back(candidate);
      }
    }
    Value list = Value::array();
    for (const std::string& version : stored) list.push_back(version);
    definition["status"]["storedVersions"] = std::move(list);
    return !(std::as_const(definition)["status"] == before);
  });
}

CrdRegistry::Known CrdRegistry::learn(const StoredObject& stored) {
  Known known;
  if (!stored) return known;
  const Ref<Value> definition = stored.value();
  known.revision = stored.revision();
  known.group = text((*definition)["spec"]["group"]);
  known.names = names_of((*definition)["status"]["acceptedNames"]);
  if (is_true(*definition, "Established")) {
    known.resources = resources_of(services_.store, *definition);
  }
  for (const ResourcePtr& resource : known.resources) {
    known.schemas += fmt::format("{}:{};", resource->version, resource->custom->schema_id);
  }
  return known;
}

void CrdRegistry::adopt(const std::map<std::string, StoredObject>& definitions) {
  // Strong exception guarantee: known_ is changed last, so a retry finds the same differences.
  std::map<std::string, Known> changes;
  std::vector<ResourcePtr> gone;
  std::vector<ResourcePtr> added;
  for (const auto& [name, stored] : definitions) {
    const Known& before = known_[name];
    if (stored && before.revision == stored.revision()) continue;
    const Known& now = changes.emplace(name, learn(stored)).first->second;
    gone.insert(gone.end(), before.resources.begin(), before.resources.end());
    added.insert(added.end(), now.resources.begin(), now.resources.end());
  }
  if (!gone.empty() || !added.empty()) {
    services_.set_catalog(services_.catalog()->with_changes(gone, added));
  }
  for (auto& [name, now] : changes) {
    Known& before = known_.find(name)->second;
    // Clients must watch again when the served schemas change.
    if (!before.resources.empty() && before.schemas != now.schemas) {
      services_.store.end_watches(
          &services_.store.collection(before.resources.front()->group_resource()));
    }
    index(name, before, false);
    index(name, now, true);
    before = std::move(now);
  }
  for (const auto& [name, stored] : definitions) {
    if (!stored) known_.erase(name);
  }
}

void CrdRegistry::index(const std::string& name, const Known& known, bool add) {
  const auto change = [&](NameIndex& index, const std::vector<std::string>& names) {
    for (const std::string& one : names) {
      if (one.empty()) continue;
      if (add) {
        index[{known.group, one}].insert(name);
      } else if (const auto found = index.find({known.group, one}); found != index.end()) {
        found->second.erase(name);
        if (found->second.empty()) index.erase(found);
      }
    }
  };
  change(resource_owners_, known.names.resources());
  change(kind_owners_, known.names.kinds());
}

void CrdRegistry::rebuild() {
  std::map<std::string, StoredObject> definitions;
  for (const auto& [name, known] : known_) definitions[name];
  for (auto& [name, stored] : services_.store.list(definitions_, {}).objects) {
    definitions[name] = std::move(stored);
  }
  adopt(definitions);
}

void CrdRegistry::clean_up(const std::string& name, const Value& definition) {
  const GroupResource id{text(definition["spec"]["group"]),
                         text(definition["spec"]["names"]["plural"])};
  Collection& collection = services_.store.collection(id);
  const ResourcePtr resource = services_.catalog()->find(id);
  bool left = false;
  if (resource != nullptr) {
    for (const auto& [key, object] : services_.store.list(collection, {}).objects) {
      try {
        left = !rest_.remove_object(*resource, key, {.propagation = "Background"}).gone || left;
      } catch (const ApiError&) {  // already deleted
      }
    }
  }
  if (left) return;
  rest_.edit(definitions_, name, [](Value& object) {
    Value kept = Value::array();
    for (const Value& finalizer : std::as_const(object).get_array("metadata.finalizers")) {
      if (finalizer != Value{kCleanup}) kept.push_back(finalizer);
    }
    if (kept.size() == 0) {
      object["metadata"].erase("finalizers");
    } else {
      object["metadata"]["finalizers"] = std::move(kept);
    }
    return true;
  });
}

void CrdRegistry::object_deleted(const GroupResource& resource) {
  const std::string name = resource.resource + '.' + resource.group;
  const StoredObject stored = services_.store.get(definitions_, name);
  if (stored && !stored.metadata_text("deletionTimestamp").empty()) {
    clean_up(name, *stored.value());
  }
}

}  // namespace kube::testkit::detail
