// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/delta_queue_core.hpp>

#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kube::detail {

struct DeltaFifoCore::Items {
  std::unordered_map<std::string, std::vector<AnyDelta>> deltas;
  std::deque<std::string> order;  ///< each key of `deltas`, once
  std::size_t count = 0;          ///< number of deltas of all keys
  /// The key whose deltas are being processed, and its newest object. The store may not have it
  /// yet, but it must count as known meanwhile.
  std::string current;
  ObjectRef current_object;
};

DeltaFifoCore::DeltaFifoCore(const ObjectAccess& access, std::shared_ptr<const IndexerCore> known,
                             DeltaQueueOptions options, DeltaType listed_as)
    : DeltaQueueCore(access, std::move(known), std::move(options)),
      listed_as_(listed_as),
      queued_(std::make_unique<Items>()) {}

DeltaFifoCore::~DeltaFifoCore() = default;

std::size_t DeltaFifoCore::size() const {
  const std::lock_guard guard{mutex_};
  return queued_->count;
}

std::size_t DeltaFifoCore::size_locked() const { return queued_->count; }

std::vector<ObjectRef> DeltaFifoCore::list() const {
  const std::lock_guard guard{mutex_};
  std::vector<ObjectRef> newest;
  for (const std::string& key : queued_->order) {
    newest.push_back(queued_->deltas.at(key).back().object);
  }
  return newest;
}

/// Strong exception guarantee: a key has deltas if and only if it is in the order.
void DeltaFifoCore::push_locked(std::string key, AnyDelta delta) {
  const auto [place, is_new] = queued_->deltas.try_emplace(key);
  std::vector<AnyDelta>& deltas = place->second;
  if (!is_new && delta.type == DeltaType::kDeleted && deltas.back().type == DeltaType::kDeleted) {
    // The deletion with the final state replaces the tombstone.
    if (deltas.back().tombstone) deltas.back() = std::move(delta);
    return;
  }
  try {
    deltas.push_back(std::move(delta));
    if (is_new) queued_->order.push_back(std::move(key));
  } catch (...) {
    if (is_new) queued_->deltas.erase(place);
    throw;
  }
  ++queued_->count;
}

void DeltaFifoCore::push(AnyDelta delta) {
  std::string key = delta.key_text(access_);
  if (KeyParts::of(key).name.empty()) {
    throw KeyError("object has no meta: metadata.name is empty");
  }
  stamp(delta);
  auto lock = lock_for_producer();
  if (delta.type != DeltaType::kDeleted || is_known_locked(key)) {
    push_locked(std::move(key), std::move(delta));
  }
  publish(std::move(lock), Operation::kEvent);
}

bool DeltaFifoCore::is_known_locked(const std::string& key) const {
  if (queued_->deltas.contains(key) || queued_->current == key) return true;
  const auto parts = KeyParts::of(key);
  return known_ != nullptr && known_->snapshot().find(parts.namespace_, parts.name);
}

void DeltaFifoCore::add(ObjectRef object) {
  push({.type = DeltaType::kAdded, .object = std::move(object)});
}
void DeltaFifoCore::update(ObjectRef object) {
  push({.type = DeltaType::kUpdated, .object = std::move(object)});
}
void DeltaFifoCore::erase(ObjectRef last) {
  push({.type = DeltaType::kDeleted, .object = std::move(last)});
}
void DeltaFifoCore::erase(std::string key) {
  push({.type = DeltaType::kDeleted, .tombstone = true, .key = std::move(key)});
}

void DeltaFifoCore::replace(std::vector<ObjectRef> objects, std::string /*version*/) {
  auto lock = lock_for_producer();
  std::unordered_set<std::string> listed;
  for (ObjectRef& object : objects) {
    std::string key = access_.key(object.get());
    if (access_.name(object.get()).empty()) continue;
    listed.insert(key);
    push_locked(std::move(key), {.type = listed_as_, .object = std::move(object)});
  }
  std::size_t initial = listed.size();
  const auto bury = [&](const std::string& key, ObjectRef last) {
    ++initial;
    AnyDelta grave{.type = DeltaType::kDeleted, .object = std::move(last), .tombstone = true};
    if (!grave.object) grave.key = key;
    push_locked(key, std::move(grave));
  };
  const std::vector<std::string> queued(queued_->order.begin(), queued_->order.end());
  for (const std::string& key : queued) {
    if (!listed.contains(key)) bury(key, queued_->deltas.at(key).back().object);
  }
  if (!queued_->current.empty() && !listed.contains(queued_->current) &&
      !queued_->deltas.contains(queued_->current)) {
    bury(queued_->current, queued_->current_object);
  }
  if (known_ != nullptr) {
    known_->snapshot().for_each([&](const ObjectRef& object) {
      const std::string key = access_.key(object.get());
      if (!listed.contains(key) && !queued_->deltas.contains(key)) bury(key, object);
      return true;
    });
  }
  publish(std::move(lock), Operation::kReplace, initial);
}

void DeltaFifoCore::resync(std::shared_ptr<const ResyncRequest> request) {
  // does not wait for room: the consumer may call this, and would wait for itself
  std::unique_lock lock{mutex_};
  if (known_ != nullptr) {
    known_->snapshot().for_each([&](const ObjectRef& object) {
      std::string key = access_.key(object.get());
      // Objects that are queued or being processed are newer than those in the store.
      if (!queued_->deltas.contains(key) && queued_->current != key) {
        push_locked(std::move(key),
                    {.type = DeltaType::kSync, .object = object, .resync = request});
      }
      return true;
    });
  }
  publish(std::move(lock), Operation::kOther);
}

void DeltaFifoCore::bookmark(std::string /*version*/) {}

std::size_t DeltaFifoCore::take_locked(std::vector<AnyDelta>& batch, std::size_t /*initial*/) {
  queued_->current = std::move(queued_->order.front());
  queued_->order.pop_front();
  const auto found = queued_->deltas.find(queued_->current);
  batch = std::move(found->second);
  queued_->deltas.erase(found);
  queued_->count -= batch.size();
  queued_->current_object = batch.back().object;
  return 1;
}

void DeltaFifoCore::processed_locked() {
  queued_->current.clear();
  queued_->current_object = {};
}

}  // namespace kube::detail
