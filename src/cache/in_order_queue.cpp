// SPDX-License-Identifier: Apache-2.0
#include "store_state.hpp"

#include <kube/cache/delta_queue.hpp>

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

namespace kube {
namespace {

bool is_about_all(DeltaType type) noexcept {
  return type == DeltaType::kReplacedAll || type == DeltaType::kSyncAll ||
         type == DeltaType::kBookmark;
}

}  // namespace

struct InOrderQueue::Items {
  struct Item {
    Delta delta;
    bool dropped = false;  ///< a newer delta of the same object follows
  };
  std::deque<Item> deltas;
  std::size_t live = 0;
  /// Where the last update of an object waits, counted from the first item ever. Only used to compress.
  std::unordered_map<std::uint64_t, std::uint64_t> last_update;
  std::uint64_t taken = 0;

  [[nodiscard]] static std::uint64_t hash(const detail::ObjectAccess& access, const Delta& delta) {
    const void* object = delta.object.get();
    return detail::hash_key(access.namespace_(object), access.name(object));
  }

  /// Drops the update that `newer`, about to be appended, makes superfluous.
  void compress(const detail::ObjectAccess& access, const Delta& newer) {
    if (is_about_all(newer.type)) {
      last_update.clear();  // nothing moves past a list
      return;
    }
    const std::uint64_t key = hash(access, newer);
    if (newer.type == DeltaType::kDeleted) {
      last_update.erase(key);
      return;
    }
    if (const auto found = last_update.find(key);
        found != last_update.end() && found->second >= taken) {
      Item& older = deltas[found->second - taken];
      if (access.key(older.delta.object.get()) == access.key(newer.object.get())) {
        older.dropped = true;
        older.delta.object = {};
        --live;
      }
    }
    last_update[key] = taken + deltas.size();
  }

  void drop_front() {
    for (; !deltas.empty() && deltas.front().dropped; ++taken) deltas.pop_front();
  }
  Delta pop() {
    Delta delta = std::move(deltas.front().delta);
    deltas.pop_front();
    ++taken;
    --live;
    drop_front();
    if (deltas.empty()) last_update.clear();
    return delta;
  }
};

InOrderQueue::InOrderQueue(const detail::ObjectAccess& access, const detail::IndexerCore* known,
                           DeltaQueueOptions options)
    : DeltaQueue(access, known, std::move(options)), queued_(std::make_unique<Items>()) {}

InOrderQueue::~InOrderQueue() = default;

std::size_t InOrderQueue::size() const {
  const std::lock_guard guard{mutex_};
  return queued_->live;
}

std::size_t InOrderQueue::size_locked() const { return queued_->live; }

void InOrderQueue::push(Delta delta, bool populates) {
  const bool is_list = delta.type == DeltaType::kReplacedAll;
  if (!is_about_all(delta.type) && access_.name(delta.object.get()).empty()) {
    throw KeyError("object has no meta: metadata.name is empty");
  }
  if (!is_about_all(delta.type)) stamp(delta);
  // A resync may be asked for by the consumer, who must not wait for itself.
  auto lock = delta.type == DeltaType::kSyncAll ? std::unique_lock{mutex_} : lock_for_producer();
  if (options_.compress) queued_->compress(access_, delta);
  queued_->deltas.push_back({std::move(delta)});
  ++queued_->live;
  queued_->drop_front();
  publish(std::move(lock),
          is_list ? Operation::kReplace : (populates ? Operation::kEvent : Operation::kOther),
          is_list ? queued_->live : 0);
}

void InOrderQueue::add(detail::ObjectRef object) {
  push({.type = DeltaType::kAdded, .object = std::move(object)});
}
void InOrderQueue::update(detail::ObjectRef object) {
  push({.type = DeltaType::kUpdated, .object = std::move(object)});
}
void InOrderQueue::erase(detail::ObjectRef last) {
  push({.type = DeltaType::kDeleted, .object = std::move(last)});
}
void InOrderQueue::replace(std::vector<detail::ObjectRef> objects, std::string version) {
  push({.type = DeltaType::kReplacedAll,
        .version = std::move(version),
        .objects = std::move(objects)});
}
void InOrderQueue::resync(std::shared_ptr<const ResyncRequest> request) {
  push({.type = DeltaType::kSyncAll, .resync = std::move(request)}, false);
}
void InOrderQueue::bookmark(std::string version) {
  push({.type = DeltaType::kBookmark, .version = std::move(version)}, false);
}

std::size_t InOrderQueue::take_locked(std::vector<Delta>& batch, std::size_t initial) {
  std::size_t limit = std::max<std::size_t>(options_.batch_size, 1);
  if (initial > 0) limit = std::min(limit, initial);
  boost::unordered_flat_set<std::uint64_t> keys;
  do {
    const Delta& next = queued_->deltas.front().delta;
    if (is_about_all(next.type)) {
      if (batch.empty()) batch.push_back(queued_->pop());
      break;
    }
    if (queued_->live > 1 && keys.empty()) keys.reserve(std::min(limit, queued_->live));
    // Equal hashes of two objects end the batch early, which does no harm. A single one needs none.
    if ((queued_->live > 1 || !keys.empty()) && !keys.insert(Items::hash(access_, next)).second)
      break;
    batch.push_back(queued_->pop());
  } while (batch.size() < limit && queued_->live > 0);
  return batch.size();
}

}  // namespace kube
