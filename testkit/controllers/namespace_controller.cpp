// SPDX-License-Identifier: Apache-2.0
#include "testkit/controllers/namespace_controller.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

#include "testkit/values/conditions.hpp"

namespace kube::testkit::detail {

namespace {

const GroupResource kPods{"", "pods"};

}  // namespace

/// The objects of a namespace that wait for finalizers or the end of their grace period.
struct NamespaceController::Remaining {
  std::map<std::string, int> by_resource;  ///< by "pods." or "jobs.batch"
  std::map<std::string, int> by_finalizer;
};

void NamespaceController::object_changed(const Collection& collection, const StoreEvent& event) {
  const bool is_deleted = event.type == Change::Type::kDeleted;
  if (!is_concerned(collection)) {
    if (!is_deleted || terminating_.empty()) return;
    const std::string namespace_ = event.key.substr(0, event.key.find('/'));
    if (terminating_.contains(namespace_)) empty(namespace_);
    return;
  }
  if (is_deleted || event.object.metadata_text("deletionTimestamp").empty()) {
    terminating_.erase(event.key);
  } else {
    terminating_.insert(event.key);
    empty(event.key);
  }
}

void NamespaceController::empty(const std::string& name) {
  // Pods go first: what they need while they shut down must outlive them.
  Remaining pods;
  Remaining others;
  std::vector<ResourcePtr> resources;
  std::set<const Collection*> seen;
  for (const ResourcePtr& resource : services_.catalog()->all()) {
    if (!resource->namespaced || resource->collection == nullptr ||
        !seen.insert(resource->collection).second) {
      continue;
    }
    if (resource->collection->resource() == kPods) {
      delete_all(*resource, name, pods);
    } else {
      resources.push_back(resource);
    }
  }
  // A real controller counts what remains only after the last pod.
  if (!pods.by_resource.empty()) return report(name, {});
  for (const ResourcePtr& resource : resources) delete_all(*resource, name, others);
  if (!others.by_resource.empty()) return report(name, others);
  finalize(name);
}

void NamespaceController::delete_all(const Resource& resource, const std::string& namespace_,
                                     Remaining& remaining) {
  const Store::ListResult found =
      services_.store.list(*resource.collection, {.scope = {.prefix = namespace_ + '/'}});
  for (const auto& [key, object] : found.objects) {
    try {
      const DeleteOutcome outcome =
          rest_.remove_object(resource, key, {.propagation = "Background"});
      if (outcome.gone) continue;
      const GroupResource& name = resource.collection->resource();
      ++remaining.by_resource[fmt::format("{}.{}", name.resource, name.group)];
      const Ref<Value> kept = outcome.object.value();
      for (const Value& finalizer : kept->get_array("metadata.finalizers")) {
        ++remaining.by_finalizer[std::string{finalizer.as_string()}];
      }
    } catch (const ApiError&) {  // already deleted
    }
  }
}

void NamespaceController::report(const std::string& name, const Remaining& remaining) {
  std::vector<std::string> resources;
  for (const auto& [resource, count] : remaining.by_resource) {
    resources.push_back(fmt::format("{} has {} resource instances", resource, count));
  }
  std::vector<std::string> finalizers;
  for (const auto& [finalizer, count] : remaining.by_finalizer) {
    finalizers.push_back(fmt::format("{} in {} resource instances", finalizer, count));
  }
  rest_.edit(namespaces_, name, [&](Value& object) {
    const std::string now = services_.now_text();
    set_condition(object, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                  "All resources successfully discovered", now);
    set_condition(object, "NamespaceDeletionGroupVersionParsingFailure", false,
                  "ParsedGroupVersions", "All legacy kube types successfully parsed", now);
    set_condition(object, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization", now);
    if (resources.empty()) {
      set_condition(object, "NamespaceContentRemaining", false, "ContentRemoved",
                    "All content successfully removed", now);
    } else {
      set_condition(
          object, "NamespaceContentRemaining", true, "SomeResourcesRemain",
          fmt::format("Some resources are remaining: {}", fmt::join(resources, ", ")), now);
    }
    if (finalizers.empty()) {
      set_condition(object, "NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished", now);
    } else {
      set_condition(object, "NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
                    fmt::format("Some content in the namespace has finalizers remaining: {}",
                                fmt::join(finalizers, ", ")),
                    now);
    }
    return true;
  });
}

void NamespaceController::finalize(const std::string& name) {
  rest_.edit(namespaces_, name, [](Value& object) {
    Value kept = Value::array();
    for (const Value& finalizer : std::as_const(object).get_array("spec.finalizers")) {
      if (!(finalizer == Value{"kubernetes"})) kept.push_back(finalizer);
    }
    object["spec"]["finalizers"] = std::move(kept);
    return true;
  });
}

}  // namespace kube::testkit::detail
