// SPDX-License-Identifier: Apache-2.0
#include "testkit/controllers/garbage_collector.hpp"

#include <algorithm>
#include <utility>

namespace kube::testkit::detail {

namespace {

using meta::v1::OwnerReference;

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

bool has_finalizer(const StoredObject& object, std::string_view name) {
  if (const meta::v1::ObjectMeta* typed = object.metadata()) {
    return std::ranges::any_of(typed->finalizers,
                               [&](const String& one) { return one.view() == name; });
  }
  if (!object.is_dynamic()) return false;
  return std::ranges::any_of(object.dynamic().get_array("metadata.finalizers"),
                             [&](const Value& one) { return one == Value{name}; });
}

/// Keeps the references for which `keep` returns true. Returns false if that is all of them.
template <typename Keep>
bool filter_owners(Value& object, Keep keep) {
  Value kept = Value::array();
  const Value& references = std::as_const(object)["metadata"]["ownerReferences"];
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (keep(references[i])) kept.push_back(references[i]);
  }
  if (kept.size() == references.size()) return false;
  if (kept.size() == 0) {
    object["metadata"].erase("ownerReferences");
  } else {
    object["metadata"]["ownerReferences"] = std::move(kept);
  }
  return true;
}

std::string text(const Value& value) {
  return value.is_string() ? std::string{value.as_string()} : std::string{};
}

OwnerReference reference_of(const Value& value) {
  OwnerReference reference;
  reference.api_version = text(value["apiVersion"]);
  reference.kind = text(value["kind"]);
  reference.name = text(value["name"]);
  reference.uid = text(value["uid"]);
  reference.block_owner_deletion = value["blockOwnerDeletion"] == Value{true};
  return reference;
}

/// Must not throw, whatever is stored.
List<OwnerReference> references_of(const StoredObject& object) {
  if (const meta::v1::ObjectMeta* typed = object.metadata()) return typed->owner_references;
  List<OwnerReference> references;
  if (!object.is_dynamic()) return references;
  const Value& values = object.dynamic()["metadata"]["ownerReferences"];
  if (!values.is_array()) return references;
  for (const Value& value : values.as_array()) references.push_back(reference_of(value));
  return references;
}

/// Returns the uids of the owners of `object`.
std::vector<std::string> owners_of(const StoredObject& object) {
  std::vector<std::string> owners;
  for (const OwnerReference& reference : references_of(object)) {
    owners.push_back(reference.uid.str());
  }
  return owners;
}

/// Called under the store's lock and must not throw, whatever is stored. `before` may be null.
bool same_owners(const StoredObject& now, const StoredObject& before) {
  if (!before) return references_of(now).empty();
  const meta::v1::ObjectMeta* const typed = now.metadata();
  const meta::v1::ObjectMeta* const typed_before = before.metadata();
  if (typed != nullptr && typed_before != nullptr) {
    return typed->owner_references == typed_before->owner_references;
  }
  return owners_of(now) == owners_of(before);
}

}  // namespace

ResourcePtr GarbageCollector::resource_of(const Collection& collection) const {
  return services_.catalog()->find(collection.resource());
}

void GarbageCollector::index(const Place& place, const std::vector<std::string>& owners) {
  for (const std::string& uid : owners_[place]) {
    const auto found = dependents_.find(uid);
    if (found == dependents_.end()) continue;  // memory ran out during the last attempt
    found->second.erase(place);
    if (found->second.empty()) dependents_.erase(found);
  }
  if (owners.empty()) {
    owners_.erase(place);
    return;
  }
  owners_[place] = owners;
  for (const std::string& uid : owners) dependents_[uid].insert(place);
}

bool GarbageCollector::is_concerned(const StoreEvent& event) {
  return event.type == Change::Type::kDeleted ||
         !event.object.metadata_text("deletionTimestamp").empty() ||
         !same_owners(event.object, event.previous);
}

void GarbageCollector::object_changed(Collection& collection, const StoreEvent& event) {
  if (!is_concerned(event)) return;
  const Place place{&collection, event.key};
  const bool deleted = event.type == Change::Type::kDeleted;
  const bool is_deleting = !event.object.metadata_text("deletionTimestamp").empty();
  const std::vector<std::string> owners = owners_of(event.object);
  index(place, deleted ? std::vector<std::string>{} : owners);
  if (deleted) {
    const std::string uid = event.object.metadata_text("uid");
    waiting_.erase(uid);
    if (const auto found = dependents_.find(uid); found != dependents_.end()) {
      const std::set<Place> dependents = found->second;
      for (const Place& dependent : dependents) check_dependent(dependent);
    }
    // Owners may be waiting for this object.
    for (const std::string& owner_uid : owners) {
      const auto waiting = waiting_.find(owner_uid);
      if (waiting == waiting_.end()) continue;
      const Place owner = waiting->second;
      if (const StoredObject stored = services_.store.get(*owner.first, owner.second)) {
        delete_in_foreground(owner, stored.metadata_text("uid"));
      }
    }
    return;
  }
  if (!is_deleting) return check_dependent(place);
  const std::string uid = event.object.metadata_text("uid");
  if (has_finalizer(event.object, kOrphan)) orphan_dependents(place, uid);
  if (has_finalizer(event.object, kForeground)) {
    waiting_[uid] = place;
    delete_in_foreground(place, uid);
  }
}

GarbageCollector::Owner GarbageCollector::state_of(const std::string& namespace_,
                                                   const OwnerReference& reference) const {
  const ResourcePtr resource =
      services_.catalog()->find_kind(reference.api_version.view(), reference.kind.view());
  if (resource == nullptr || (resource->namespaced && namespace_.empty())) return Owner::kPresent;
  const StoredObject owner = services_.store.get(
      *resource->collection,
      key_of(resource->namespaced ? namespace_ : std::string{}, reference.name.view()));
  if (!owner || owner.metadata_text("uid") != reference.uid.view()) return Owner::kGone;
  if (owner.metadata_text("deletionTimestamp").empty()) return Owner::kPresent;
  return has_finalizer(owner, kForeground) ? Owner::kWaiting : Owner::kPresent;
}

void GarbageCollector::check_dependent(const Place& place) {
  const StoredObject dependent = services_.store.get(*place.first, place.second);
  const ResourcePtr resource = resource_of(*place.first);
  if (!dependent || resource == nullptr) return;
  const std::string namespace_ = dependent.metadata_text("namespace");
  const List<OwnerReference> references = references_of(dependent);
  std::size_t present = 0;
  std::size_t gone = 0;
  for (const OwnerReference& reference : references) {
    const Owner state = state_of(namespace_, reference);
    if (state == Owner::kPresent) ++present;
    if (state == Owner::kGone) ++gone;
  }
  if (present == references.size()) return;
  if (present > 0) {
    if (gone == 0) return;
    rest_.edit(*place.first, place.second, [&](Value& object) {
      return filter_owners(object, [&](const Value& reference) {
        return state_of(namespace_, reference_of(reference)) != Owner::kGone;
      });
    });
    return;
  }
  try {
    const std::string uid = dependent.metadata_text("uid");
    const bool in_foreground = gone < references.size() && dependents_.contains(uid);
    if (in_foreground && has_waiting_dependent(uid)) unblock_owners(place);
    rest_.remove_object(*resource, place.second,
                        {.uid = uid, .propagation = in_foreground ? "Foreground" : "Background"});
  } catch (const ApiError&) {  // modified concurrently; its event is handled next
  }
}

bool GarbageCollector::has_waiting_dependent(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return false;
  return std::ranges::any_of(found->second, [&](const Place& dependent) {
    const StoredObject stored = services_.store.get(*dependent.first, dependent.second);
    return stored && !stored.metadata_text("deletionTimestamp").empty() &&
           has_finalizer(stored, kForeground);
  });
}

void GarbageCollector::unblock_owners(const Place& place) {
  rest_.edit(*place.first, place.second, [](Value& object) {
    bool changed = false;
    Value references = Value::array();
    for (Value reference : std::as_const(object).get_array("metadata.ownerReferences")) {
      if (std::as_const(reference)["blockOwnerDeletion"] == Value{true}) {
        reference["blockOwnerDeletion"] = false;
        changed = true;
      }
      references.push_back(std::move(reference));
    }
    if (changed) object["metadata"]["ownerReferences"] = std::move(references);
    return changed;
  });
}

void GarbageCollector::delete_in_foreground(const Place& place, const std::string& uid) {
  const auto found = dependents_.find(uid);
  const std::set<Place> dependents = found == dependents_.end() ? std::set<Place>{} : found->second;
  bool blocked = false;
  for (const Place& dependent : dependents) {
    check_dependent(dependent);
    const StoredObject left = services_.store.get(*dependent.first, dependent.second);
    if (!left) continue;
    for (const OwnerReference& reference : references_of(left)) {
      blocked = blocked ||
                (reference.uid.view() == uid && reference.block_owner_deletion.value_or(false));
    }
  }
  if (!blocked) remove_finalizer(place, kForeground);
}

void GarbageCollector::orphan_dependents(const Place& place, const std::string& uid) {
  if (const auto found = dependents_.find(uid); found != dependents_.end()) {
    const std::set<Place> dependents = found->second;
    for (const Place& dependent : dependents) {
      rest_.edit(*dependent.first, dependent.second, [&](Value& object) {
        return filter_owners(object,
                             [&](const Value& reference) { return text(reference["uid"]) != uid; });
      });
    }
  }
  remove_finalizer(place, kOrphan);
}

void GarbageCollector::remove_finalizer(const Place& place, std::string_view finalizer) {
  rest_.edit(*place.first, place.second, [&](Value& object) {
    Value kept = Value::array();
    const List<Value>& finalizers = std::as_const(object).get_array("metadata.finalizers");
    for (const Value& one : finalizers) {
      if (!(one == Value{finalizer})) kept.push_back(one);
    }
    if (kept.size() == finalizers.size()) return false;
    if (kept.size() == 0) {
      object["metadata"].erase("finalizers");
    } else {
      object["metadata"]["finalizers"] = std::move(kept);
    }
    return true;
  });
}

}  // namespace kube::testkit::detail
