// SPDX-License-Identifier: Apache-2.0
#include "cache/store/state.hpp"

#include <kube/cache/indexer_core.hpp>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <stdexcept>

namespace kube::detail {
namespace {

std::uint64_t process_seed() noexcept {
  static const std::uint64_t kSeed = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return kSeed;
}

/// Delays each visit by some objects, so that an object's memory is prefetched before it is
/// visited. Random objects of a large cache are in no cache of the processor.
class Prefetching {
 public:
  explicit Prefetching(const StoreSnapshot::See& see) : see_(see) {}
  bool add(const ObjectRef& object) {
    object.prefetch();
    const ObjectRef* ready = std::exchange(ring_[count_++ % ring_.size()], &object);
    return ready == nullptr || (more_ = see_(*ready));
  }
  bool finish() {
    for (std::size_t i = 0; i < ring_.size() && more_; ++i) {
      const ObjectRef* ready = std::exchange(ring_[count_++ % ring_.size()], nullptr);
      if (ready != nullptr) more_ = see_(*ready);
    }
    return more_;
  }

 private:
  const StoreSnapshot::See& see_;
  std::array<const ObjectRef*, 16> ring_{};
  std::size_t count_ = 0;
  bool more_ = true;
};

/// A superset of the matching objects, and its size.
struct Candidates {
  const PersistentSet* set = nullptr;  ///< null: all slots
  std::string_view label;              ///< the key of the label, if `set` is the label index
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::size_t count = 0;

  void add(std::uint64_t first, std::uint64_t last) {
    if (std::find(ranges.begin(), ranges.end(), std::pair{first, last}) != ranges.end()) return;
    ranges.emplace_back(first, last);
    count += set->count(first, last);
  }
};

Candidates label_candidates(const StoreState& state, const labels::Requirement& requirement) {
  Candidates found{&state.labels, requirement.key, {}, 0};
  switch (requirement.op) {
    case labels::Operator::kIn:
    case labels::Operator::kEquals:
    case labels::Operator::kDoubleEquals:
      for (const std::string& value : requirement.values) {
        const std::uint64_t hash = hash_label(requirement.key, value);
        found.add(entry(hash, 0), entry(hash, UINT32_MAX));
      }
      break;
    case labels::Operator::kExists:
    case labels::Operator::kGreaterThan:
    case labels::Operator::kLessThan: {
      const std::uint64_t hash = hash_label(requirement.key, {}) & 0xffff0000U;
      found.add(entry(hash, 0), entry(hash | 0xffffU, UINT32_MAX));
      break;
    }
    default:
      found.set = nullptr;  // matches objects without the label: an index cannot find those
      break;
  }
  return found;
}

}  // namespace

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), process_seed() + seed);
}

std::uint64_t hash_key(std::string_view space, std::string_view name) noexcept {
  return hash_text(name, hash_text(space, 1));
}
std::uint32_t hash_value_text(std::string_view value) noexcept {
  return static_cast<std::uint32_t>(hash_text(value, 2) >> 32);
}
std::uint32_t hash_label(std::string_view key, std::string_view value) noexcept {
  return static_cast<std::uint32_t>(hash_text(key, 3) >> 48 << 16 | hash_text(value, 4) >> 48);
}

StoreState::Place StoreState::find_slot(std::string_view space, std::string_view name) const {
  Place found;
  keys.visit(short_hash(hash_key(space, name)), [&](std::uint32_t number) {
    const StoredObject* slot = slots.find(number);
    slot->object.prefetch_name();
    const void* object = slot->object.get();
    if (access->name(object) != name || access->namespace_(object) != space) return true;
    found = {number, slot};
    return false;
  });
  return found;
}

ObjectRef StoreState::find(std::string_view space, std::string_view name) const {
  const Place place = find_slot(space, name);
  return place.slot == nullptr ? ObjectRef{} : place.slot->object;
}

KeyParts KeyParts::of(std::string_view key) noexcept {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {{}, key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

std::size_t StoreSnapshot::size() const noexcept { return state_ ? state_->keys.size() : 0; }

const std::string& StoreSnapshot::resource_version() const noexcept {
  static const std::string kNone;
  return state_ ? state_->version : kNone;
}

std::uint64_t StoreSnapshot::sequence() const noexcept { return state_ ? state_->sequence : 0; }

ObjectRef StoreSnapshot::find(std::string_view space, std::string_view name) const {
  if (!state_) return {};
  return state_->find(space, name);
}

void StoreSnapshot::for_each(const See& see) const {
  if (!state_) return;
  Prefetching visit{see};
  state_->slots.visit(
      [&](std::uint32_t, const StoredObject& slot) { return visit.add(slot.object); });
  visit.finish();
}

std::uint32_t StoreSnapshot::for_some(std::uint32_t first, std::size_t limit,
                                      const See& see) const {
  std::uint32_t next = 0;
  if (!state_) return next;
  state_->slots.visit(
      [&](std::uint32_t number, const StoredObject& slot) {
        if (limit-- == 0) {
          next = number;
          return false;
        }
        if (see(slot.object)) return true;
        next = number + 1;
        return false;
      },
      first);
  return next;
}

void StoreSnapshot::select(std::string_view space, const labels::Selector& selector,
                           const See& see) const {
  if (!state_ || selector.matches_nothing()) return;
  const ObjectAccess& access = *state_->access;

  Candidates best;
  best.count = size();
  if (!space.empty() && state_->has_namespaces) {
    Candidates of_namespace{&state_->namespaces, {}, {}, 0};
    const std::uint64_t hash = hash_value_text(space);
    of_namespace.add(entry(hash, 0), entry(hash, UINT32_MAX));
    best = std::move(of_namespace);
  }
  if (state_->has_labels) {
    for (const labels::Requirement& requirement : selector.requirements()) {
      Candidates of_label = label_candidates(*state_, requirement);
      if (of_label.set != nullptr && of_label.count < best.count) best = std::move(of_label);
    }
  }

  const bool all_labels = selector.matches_everything();
  const See check = [&](const ObjectRef& object) {
    if (!space.empty() && access.namespace_(object.get()) != space) return true;
    if (!all_labels && !selector.matches(LabelsOf{access, object.get()})) return true;
    return see(object);
  };
  if (best.set == nullptr) return for_each(check);
  // Two labels of one object may have hashes in the same range, or in two ranges: the object is
  // visited only for the right one.
  const bool ambiguous =
      !best.label.empty() && (best.ranges.size() > 1 ||
                              best.ranges.front().first >> 32 != best.ranges.front().second >> 32);
  for (const auto& [first, last] : best.ranges) {
    Prefetching visit{check};
    best.set->visit(first, last, [&](std::uint64_t key) {
      const ObjectRef& object = state_->slots.find(slot_of(key))->object;
      if (ambiguous) {
        const auto value = access.label(object.get(), best.label);
        if (!value || hash_label(best.label, *value) != key >> 32) return true;
      }
      return visit.add(object);
    });
    if (!visit.finish()) return;
  }
}

void StoreSnapshot::by_any(std::string_view index, const std::vector<std::string>& values,
                           const See& see) const {
  std::set<const void*> seen;
  for (const std::string& value : values) {
    by_index(index, value, [&](const ObjectRef& object) {
      return !seen.insert(object.get()).second || see(object);
    });
  }
}

void StoreSnapshot::by_index(std::string_view index, std::string_view value, const See& see) const {
  const std::uint64_t hash = hash_value_text(value);
  if (state_) {
    for (std::uint32_t i = 0; i < state_->indexes.size(); ++i) {
      if (state_->indexes[i].name != index) continue;
      state_->indexes[i].entries.visit(
          entry(hash, 0), entry(hash, UINT32_MAX), [&](std::uint64_t key) {
            const StoredObject& slot = *state_->slots.find(slot_of(key));
            return !slot.values.contains(i, value) || see(slot.object);
          });
      return;
    }
    if (index == kNamespaceIndex && state_->has_namespaces) {
      state_->namespaces.visit(entry(hash, 0), entry(hash, UINT32_MAX), [&](std::uint64_t key) {
        const ObjectRef& object = state_->slots.find(slot_of(key))->object;
        return state_->access->namespace_(object.get()) != value || see(object);
      });
      return;
    }
  }
  throw std::out_of_range(fmt::format("Index with name {} does not exist", index));
}

std::vector<std::string> StoreSnapshot::index_values(std::string_view index) const {
  std::set<std::string, std::less<>> values;
  const auto add = [&](std::string_view value) {
    if (values.find(value) == values.end()) values.emplace(value);
  };
  if (state_ && index == kNamespaceIndex && state_->has_namespaces) {
    for_each([&](const ObjectRef& object) {
      add(state_->access->namespace_(object.get()));
      return true;
    });
  } else if (state_) {
    const auto& indexes = state_->indexes;
    const auto found = std::find_if(indexes.begin(), indexes.end(),
                                    [&](const auto& i) { return i.name == index; });
    if (found == indexes.end()) return {};
    const auto number = static_cast<std::uint32_t>(found - indexes.begin());
    state_->slots.visit([&](std::uint32_t, const StoredObject& slot) {
      slot.values.visit([&](std::uint32_t i, std::string_view value) {
        if (i == number) add(value);
      });
      return true;
    });
  }
  return {values.begin(), values.end()};
}

std::vector<std::string> StoreSnapshot::index_names() const {
  std::vector<std::string> names;
  if (!state_) return names;
  if (state_->has_namespaces) names.emplace_back(kNamespaceIndex);
  for (const StoreState::Index& index : state_->indexes) names.push_back(index.name);
  return names;
}

std::size_t StoreSnapshot::overhead_bytes() const noexcept {
  if (!state_) return 0;
  std::size_t bytes = sizeof *state_ + state_->slots.bytes() + state_->keys.bytes() +
                      state_->namespaces.bytes() + state_->labels.bytes();
  for (const StoreState::Index& index : state_->indexes) bytes += index.entries.bytes();
  return bytes;
}

void sort_keys(std::vector<std::string>& keys) { std::ranges::sort(keys); }

}  // namespace kube::detail
