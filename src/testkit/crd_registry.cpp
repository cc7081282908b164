// SPDX-License-Identifier: Apache-2.0
#include "crd_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "conversion.hpp"
#include "rest_metadata.hpp"
#include "value_text.hpp"

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

/// Sets a condition; its time moves only if its status does.
void set_condition(Value& definition, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, const std::string& now) {
  Value next = Value::object({{"type", type},
                              {"status", status ? "True" : "False"},
                              {"reason", reason},
                              {"message", message},
                              {"lastTransitionTime", now}});
  Value conditions = Value::array();
  bool replaced = false;
  for (const Value& condition : std::as_const(definition).get_array("status.conditions")) {
    if (condition["type"] != Value{type}) {
      conditions.push_back(condition);
      continue;
    }
    if (condition["status"] == std::as_const(next)["status"]) {
      next["lastTransitionTime"] = condition["lastTransitionTime"];
    }
    conditions.push_back(next);
    replaced = true;
  }
  if (!replaced) conditions.push_back(next);
  definition["status"]["conditions"] = std::move(conditions);
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

/// The name that clashes with another accepted definition of the group: condition reason and message.
std::optional<std::pair<std::string, std::string>> conflict_of(const Value& definition,
                                                               const std::vector<Value>& others) {
  const Value& names = definition["spec"]["names"];
  std::optional<std::pair<std::string, std::string>> found;
  const auto clash = [&](const char* reason, const std::string& name) {
    found = {reason, fmt::format("\"{}\" is already in use", name)};
  };
  for (const Value& other : others) {
    if (other["spec"]["group"] != definition["spec"]["group"] ||
        metadata_text(other, "name") == metadata_text(definition, "name")) {
      continue;
    }
    const Value& taken = other["status"]["acceptedNames"];
    std::vector<std::string> resources = texts(taken["shortNames"]);
    resources.push_back(text(taken["plural"]));
    resources.push_back(text(taken["singular"]));
    const auto in_use = [&](const std::string& name) {
      return !name.empty() && std::ranges::find(resources, name) != resources.end();
    };
    if (in_use(text(names["plural"]))) clash("PluralConflict", text(names["plural"]));
    if (in_use(text(names["singular"]))) clash("SingularConflict", text(names["singular"]));
    for (const std::string& name : texts(names["shortNames"])) {
      if (in_use(name)) clash("ShortNamesConflict", name);
    }
    const std::vector<std::string> kinds{text(taken["kind"]), text(taken["listKind"])};
    const auto kind_in_use = [&](const std::string& kind) {
      return !kind.empty() && std::ranges::find(kinds, kind) != kinds.end();
    };
    if (kind_in_use(text(names["kind"]))) clash("KindConflict", text(names["kind"]));
    if (kind_in_use(text(names["listKind"]))) clash("ListKindConflict", text(names["listKind"]));
  }
  return found;
}

std::string scale_path(const Value& version, const char* member) {
  return text(version["subresources"]["scale"][member]);
}

}  // namespace

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
  rebuild();
  const StoredObject stored = services_.store.get(definitions_, name);
  if (stored && !stored.metadata_text("deletionTimestamp").empty()) {
    clean_up(name, *stored.value());
  }
}

void CrdRegistry::update_status(const std::string& name) {
  std::vector<Value> others;
  for (const auto& [key, object] : services_.store.list(definitions_, {}).objects) {
    others.push_back(*object.value());
  }
  const std::string now = services_.now_text();
  rest_.edit(definitions_, name, [&](Value& definition) {
    const auto conflict = conflict_of(definition, others);
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

void CrdRegistry::rebuild() {
  std::vector<ResourcePtr> resources;
  std::map<GroupResource, std::string> serving;
  std::map<std::string, Built> built;
  for (const auto& [key, object] : services_.store.list(definitions_, {}).objects) {
    Built& made = built[key];
    if (const auto known = built_.find(key);
        known != built_.end() && known->second.revision == object.revision()) {
      made = known->second;
    } else {
      made.revision = object.revision();
      const Value definition = *object.value();
      if (is_true(definition, "Established")) {
        made.resources = resources_of(services_.store, definition);
      }
    }
    for (const ResourcePtr& resource : made.resources) {
      std::string& schemas = serving[resource->group_resource()];
      schemas += fmt::format("{}:{};", resource->version, resource->custom->schema_id);
      resources.push_back(resource);
    }
  }
  built_ = std::move(built);
  services_.set_catalog(services_.catalog()->with_custom(resources));
  for (const auto& [resource, schemas] : served_) {
    const auto found = serving.find(resource);
    if (found == serving.end() || found->second != schemas) {
      services_.store.end_watches(&services_.store.collection(resource));
    }
  }
  served_ = std::move(serving);
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
      } catch (const ApiError&) {  // it went by itself
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
