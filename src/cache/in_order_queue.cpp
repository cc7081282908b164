// SPDX-License-Identifier: Apache-2.0
#include "cache/store/state.hpp"

#include <kube/cache/delta_queue_core.hpp>

#include <boost/unordered/unordered_flat_set.hpp>

#include <boost/container/deque.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace kube::detail {
namespace {

bool is_about_all(DeltaType type) noexcept {
  return type == DeltaType::kReplacedAll || type == DeltaType::kSyncAll ||
         type == DeltaType::kBookmark;
}

}  // namespace

struct InOrderQueueCore::Items {
  struct Item {
    AnyDelta delta;
    bool dropped = false;  ///< superseded by a newer delta of the same object
  };
  boost::container::deque<Item> deltas;  // an empty std::deque takes half a kilobyte
  std::size_t live = 0;
  /// Position of the last queued update of an object, counted from the first item ever, or
  /// kNowhere. Used only with `compress`.
  std::unordered_map<std::uint64_t, std::uint64_t> last_update;
  static constexpr std::uint64_t kNowhere = UINT64_MAX;
  std::uint64_t taken = 0;

  [[nodiscard]] static std::uint64_t hash(const ObjectAccess& access, const AnyDelta& delta) {
    const void* object = delta.object.get();
    return hash_key(access.namespace_(object), access.name(object));
  }

  /// Appends `newer`, and drops the update that it supersedes. Strong exception guarantee.
  void append_compressed(const ObjectAccess& access, AnyDelta newer) {
    if (is_about_all(newer.type)) {
      deltas.push_back({std::move(newer)});
      last_update.clear();  // deltas must not move past a list
      return;
    }
    const std::uint64_t key = hash(access, newer);
    if (newer.type == DeltaType::kDeleted) {
      deltas.push_back({std::move(newer)});
      last_update.erase(key);
      return;
    }
    std::uint64_t& last = last_update.try_emplace(key, kNowhere).first->second;
    const bool waits = last != kNowhere && last >= taken;
    const bool same = waits && access.key(deltas[last - taken].delta.object.get()) ==
                                   access.key(newer.object.get());
    deltas.push_back({std::move(newer)});
    if (same) {
      Item& older = deltas[last - taken];
      older.dropped = true;
      older.delta.object = {};
      --live;
    }
    last = taken + deltas.size() - 1;
  }

  void drop_front() {
    for (; !deltas.empty() && deltas.front().dropped; ++taken) deltas.pop_front();
  }
  AnyDelta pop() {
    AnyDelta delta = std::move(deltas.front().delta);
    deltas.pop_front();
    ++taken;
    --live;
    drop_front();
    if (deltas.empty()) last_update.clear();
    return delta;
  }
};

InOrderQueueCore::InOrderQueueCore(const ObjectAccess& access,
                                   std::shared_ptr<const IndexerCore> known,
                                   DeltaQueueOptions options)
    : DeltaQueueCore(access, std::move(known), std::move(options)),
      queued_(std::make_unique<Items>()) {}

InOrderQueueCore::~InOrderQueueCore() = default;

std::size_t InOrderQueueCore::size() const {
  const std::lock_guard guard{mutex_};
  return queued_->live;
}

std::size_t InOrderQueueCore::size_locked() const { return queued_->live; }

void InOrderQueueCore::push(AnyDelta delta, bool populates) {
  const bool is_list = delta.type == DeltaType::kReplacedAll;
  if (!is_about_all(delta.type) && access_.name(delta.object.get()).empty()) {
    throw KeyError("object has no meta: metadata.name is empty");
  }
  if (!is_about_all(delta.type)) stamp(delta);
  // A resync does not wait for room: the consumer may request it, and would wait for itself.
  auto lock = delta.type == DeltaType::kSyncAll ? std::unique_lock{mutex_} : lock_for_producer();
  if (options_.compress) {
    queued_->append_compressed(access_, std::move(delta));
  } else {
    queued_->deltas.push_back({std::move(delta)});
  }
  ++queued_->live;
  queued_->drop_front();
  publish(std::move(lock),
          is_list ? Operation::kReplace : (populates ? Operation::kEvent : Operation::kOther),
          is_list ? queued_->live : 0);
}

void InOrderQueueCore::add(ObjectRef object) {
  push({.type = DeltaType::kAdded, .object = std::move(object)});
}
void InOrderQueueCore::update(ObjectRef object) {
  push({.type = DeltaType::kUpdated, .object = std::move(object)});
}
void InOrderQueueCore::erase(ObjectRef last) {
  push({.type = DeltaType::kDeleted, .object = std::move(last)});
}
void InOrderQueueCore::replace(std::vector<ObjectRef> objects, std::string version) {
  push({.type = DeltaType::kReplacedAll,
        .version = std::move(version),
        .objects = std::move(objects)});
}
void InOrderQueueCore::resync(std::shared_ptr<const ResyncRequest> request) {
  push({.type = DeltaType::kSyncAll, .resync = std::move(request)}, false);
}
void InOrderQueueCore::bookmark(std::string version) {
  push({.type = DeltaType::kBookmark, .version = std::move(version)}, false);
}

/// Returns the number of deltas at the front that form a batch, dropped ones included.
std::size_t InOrderQueueCore::batch_end_locked(std::size_t initial) const {
  std::size_t limit = std::max<std::size_t>(options_.batch_size, 1);
  if (initial > 0) limit = std::min(limit, initial);
  limit = std::min(limit, queued_->live);
  if (limit == 1 || is_about_all(queued_->deltas.front().delta.type)) return 1;
  boost::unordered_flat_set<std::uint64_t> keys;
  keys.reserve(limit);
  std::size_t end = 0;
  for (std::size_t live = 0; live < limit; ++end) {
    const Items::Item& item = queued_->deltas[end];
    if (item.dropped) continue;
    // A hash collision ends the batch early, which is harmless.
    if (is_about_all(item.delta.type) || !keys.insert(Items::hash(access_, item.delta)).second)
      break;
    ++live;
  }
  return end;
}

std::size_t InOrderQueueCore::take_locked(std::vector<AnyDelta>& batch, std::size_t initial) {
  // Everything that can throw comes first: deltas that were taken out must not be lost.
  const std::size_t end = batch_end_locked(initial);
  batch.reserve(end);
  const std::uint64_t last = queued_->taken + end;
  while (queued_->live > 0 && queued_->taken < last) batch.push_back(queued_->pop());
  return batch.size();
}

}  // namespace kube::detail
