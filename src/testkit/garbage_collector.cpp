// SPDX-License-Identifier: Apache-2.0
#include "garbage_collector.hpp"

#include <algorithm>
#include <utility>

#include "rest_metadata.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

bool has_finalizer(const Value& object, std::string_view name) {
  const List<Value>& finalizers = object.get_array("metadata.finalizers");
  return std::ranges::any_of(finalizers, [&](const Value& one) { return one == Value{name}; });
}

/// Keeps the references for which `keep` holds; false if all do.
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

/// The uids of those that `object` belongs to. Called under the store's lock, so whatever is stored, it must not
/// throw.
std::vector<std::string> owners_of(const StoredObject& object) {
  std::vector<std::string> owners;
  if (const meta::v1::ObjectMeta* typed = object.metadata()) {
    for (const auto& reference : typed->owner_references) owners.push_back(reference.uid.str());
  } else if (object.is_dynamic()) {
    const Value& references = object.dynamic()["metadata"]["ownerReferences"];
    if (!references.is_array()) return owners;
    for (const Value& reference : references.as_array()) owners.push_back(text(reference["uid"]));
  }
  return owners;
}

}  // namespace

ResourcePtr GarbageCollector::resource_of(const Collection& collection) const {
  return services_.catalog()->find(collection.resource());
}

void GarbageCollector::index(const Place& place, const std::vector<std::string>& owners) {
  for (const std::string& uid : owners_[place]) {
    const auto found = dependents_.find(uid);
    found->second.erase(place);
    if (found->second.empty()) dependents_.erase(found);
  }
  if (owners.empty()) {
    owners_.erase(place);
    return;
  }
  for (const std::string& uid : owners) dependents_[uid].insert(place);
  owners_[place] = owners;
}

bool GarbageCollector::is_concerned(const StoreEvent& event) {
  return event.type == Change::Type::kDeleted ||
         !event.object.metadata_text("deletionTimestamp").empty() ||
         owners_of(event.object) !=
             (event.previous ? owners_of(event.previous) : std::vector<std::string>{});
}

void GarbageCollector::object_changed(Collection& collection, const StoreEvent& event) {
  if (!is_concerned(event)) return;
  const Place place{&collection, event.key};
  const bool deleted = event.type == Change::Type::kDeleted;
  const bool goes = !event.object.metadata_text("deletionTimestamp").empty();
  const std::vector<std::string> owners = owners_of(event.object);
  index(place, deleted ? std::vector<std::string>{} : owners);
  if (deleted) {
    const std::string uid = event.object.metadata_text("uid");
    waiting_.erase(uid);
    if (const auto found = dependents_.find(uid); found != dependents_.end()) {
      const std::set<Place> dependents = found->second;
      for (const Place& dependent : dependents) check_dependent(dependent);
    }
    // Owners may have waited for this one.
    for (const std::string& owner_uid : owners) {
      const auto waiting = waiting_.find(owner_uid);
      if (waiting == waiting_.end()) continue;
      const Place owner = waiting->second;
      if (const StoredObject stored = services_.store.get(*owner.first, owner.second)) {
        delete_in_foreground(owner, *stored.value());
      }
    }
    return;
  }
  if (!goes) return check_dependent(place);
  const Ref<Value> value = event.object.value();
  const Value& object = *value;
  if (has_finalizer(object, kOrphan)) orphan_dependents(place, object);
  if (has_finalizer(object, kForeground)) {
    waiting_[metadata_text(object, "uid")] = place;
    delete_in_foreground(place, object);
  }
}

GarbageCollector::Owner GarbageCollector::state_of(const Value& dependent,
                                                   const Value& reference) const {
  const ResourcePtr resource =
      services_.catalog()->find_kind(text(reference["apiVersion"]), text(reference["kind"]));
  const std::string namespace_ = metadata_text(dependent, "namespace");
  if (resource == nullptr || (resource->namespaced && namespace_.empty())) return Owner::kPresent;
  const StoredObject owner = services_.store.get(
      *resource->collection,
      key_of(resource->namespaced ? namespace_ : std::string{}, text(reference["name"])));
  if (!owner || owner.metadata_text("uid") != text(reference["uid"])) return Owner::kGone;
  if (owner.metadata_text("deletionTimestamp").empty()) return Owner::kPresent;
  return has_finalizer(*owner.value(), kForeground) ? Owner::kWaiting : Owner::kPresent;
}

void GarbageCollector::check_dependent(const Place& place) {
  const StoredObject stored = services_.store.get(*place.first, place.second);
  const ResourcePtr resource = resource_of(*place.first);
  if (!stored || resource == nullptr) return;
  const Value dependent = *stored.value();
  std::size_t present = 0;
  std::size_t gone = 0;
  for (const Value& reference : dependent.get_array("metadata.ownerReferences")) {
    const Owner state = state_of(dependent, reference);
    if (state == Owner::kPresent) ++present;
    if (state == Owner::kGone) ++gone;
  }
  const std::size_t all = dependent["metadata"]["ownerReferences"].size();
  if (all == 0 || present == all) return;
  if (present > 0) {
    if (gone == 0) return;
    rest_.edit(*place.first, place.second, [&](Value& object) {
      return filter_owners(object, [&](const Value& reference) {
        return state_of(dependent, reference) != Owner::kGone;
      });
    });
    return;
  }
  try {
    const bool in_foreground = gone < all && dependents_.contains(metadata_text(dependent, "uid"));
    rest_.remove_object(*resource, place.second,
                        {.uid = metadata_text(dependent, "uid"),
                         .propagation = in_foreground ? "Foreground" : "Background"});
  } catch (const ApiError&) {  // somebody else was faster; its event will tell
  }
}

void GarbageCollector::delete_in_foreground(const Place& place, const Value& owner) {
  const std::string uid = metadata_text(owner, "uid");
  const auto found = dependents_.find(uid);
  const std::set<Place> dependents = found == dependents_.end() ? std::set<Place>{} : found->second;
  bool blocked = false;
  for (const Place& dependent : dependents) {
    check_dependent(dependent);
    const StoredObject left = services_.store.get(*dependent.first, dependent.second);
    if (!left) continue;
    const Value object = *left.value();
    for (const Value& reference : object.get_array("metadata.ownerReferences")) {
      blocked = blocked ||
                (text(reference["uid"]) == uid && reference["blockOwnerDeletion"] == Value{true});
    }
  }
  if (!blocked) remove_finalizer(place, kForeground);
}

void GarbageCollector::orphan_dependents(const Place& place, const Value& owner) {
  const std::string uid = metadata_text(owner, "uid");
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
    if (!has_finalizer(object, finalizer)) return false;
    Value kept = Value::array();
    for (const Value& one : std::as_const(object).get_array("metadata.finalizers")) {
      if (!(one == Value{finalizer})) kept.push_back(one);
    }
    if (kept.size() == 0) {
      object["metadata"].erase("finalizers");
    } else {
      object["metadata"]["finalizers"] = std::move(kept);
    }
    return true;
  });
}

}  // namespace kube::testkit::detail
