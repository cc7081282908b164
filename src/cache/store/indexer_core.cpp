// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/indexer_core.hpp>

#include "cache/store/state.hpp"
#include "cache/thrown.hpp"

#include "base/deadline.hpp"
#include <kube/cache/resource_version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

namespace kube::detail {

/// State that only writers use, and the steps of a write: they change a copy of the state that is
/// not published yet.
///
/// A write calls begin(), changes the copy, calls prepare_commit(), publishes the copy, and calls
/// commit(). A write that fails in between has changed nothing: the next begin() resets to the last
/// commit.
class IndexerCore::Writer {
 public:
  std::mutex mutex;  // serialises writers; guards all members

  void begin() noexcept {
    freed_.clear();
    reused_ = 0;
    next_ = committed_;
  }
  /// Allocates the memory that commit() needs, because commit() must not throw.
  void prepare_commit() {
    const std::size_t size = free_.size() - reused_ + freed_.size();
    if (size > free_.capacity()) free_.reserve(std::max(size, 2 * free_.capacity()));
  }
  /// To be called after the state has been published.
  void commit() noexcept {
    free_.resize(free_.size() - reused_);
    free_.insert(free_.end(), freed_.begin(), freed_.end());
    committed_ = next_;
    // limits the memory kept after a list that removed many objects
    constexpr std::size_t kKept = 1024;
    if (freed_.capacity() > kKept) freed_ = {};
    begin();
  }

  void apply(StoreState& state, const StoreChange& change, const IndexValues& values,
             StoreResult& result) {
    const void* object = change.object.get();
    const KeyParts key =
        object == nullptr ? KeyParts::of(change.key)
                          : KeyParts{state.access->namespace_(object), state.access->name(object)};
    if (key.name.empty()) {
      result.error = "object has no meta: metadata.name is empty";
      return;
    }
    const StoreState::Place place = state.find_slot(key.namespace_, key.name);
    if (place.slot != nullptr) result.before = place.slot->object;
    if (change.erase) {
      if (place.slot != nullptr) erase(state, place.number);
      if (object != nullptr && !change.tombstone) note_version(state, object);
      return;
    }
    note_version(state, object);
    if (result.before && (result.before == change.object ||
                          state.access->same_version(result.before.get(), object))) {
      result.unchanged = true;
      return;
    }
    put(state, place, change.object, values);
  }

  /// Prefetches the data of several changes, in three dependent steps (key leaf, slot leaf, object)
  /// that each cause a cache miss. Doing one step for all changes before the next overlaps the
  /// misses.
  static constexpr std::size_t kAtOnce = 16;
  static void prefetch(const StoreState& state, std::span<const StoreChange> changes) {
    if (changes.size() < 2) return;
    std::array<std::uint32_t, kAtOnce> hashes{};
    std::array<std::uint32_t, kAtOnce> slots{};
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const void* object = changes[i].object.get();
      if (object == nullptr) continue;
      hashes[i] =
          short_hash(hash_key(state.access->namespace_(object), state.access->name(object)));
      state.keys.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
      slots[i] = UINT32_MAX;
      state.keys.visit(hashes[i], [&](std::uint32_t number) {
        slots[i] = number;
        return false;
      });
      state.slots.prefetch(slots[i]);
    }
    for (std::size_t i = 0; i < changes.size(); ++i) state.slots.prefetch_objects(slots[i]);
  }

  void erase(StoreState& state, std::uint32_t slot) {
    const StoredObject old = *state.slots.find(slot);
    const void* object = old.object.get();
    state.keys.erase(
        short_hash(hash_key(state.access->namespace_(object), state.access->name(object))), slot);
    if (state.has_namespaces) {
      state.namespaces.erase(entry(hash_value_text(state.access->namespace_(object)), slot));
    }
    reindex_labels(state, slot, object, nullptr);
    reindex_values(state, slot, old.values, {});
    state.slots.set(slot, {});
    freed_.push_back(slot);
  }

  static void set_version(StoreState& state, std::string_view version) {
    state.version = version;
    if (state.newest.empty() ||
        compare_resource_versions(version, state.newest) != std::partial_ordering::less) {
      state.newest = version;
    }
  }

  /// Returns an upper bound: all slot numbers are below it.
  [[nodiscard]] std::uint32_t slots() const noexcept { return next_; }

  void add_values(StoreState& state, std::uint32_t slot, IndexValues values) {
    StoredObject changed = *state.slots.find(slot);
    reindex_values(state, slot, changed.values, values);
    changed.values = std::move(values);
    state.slots.set(slot, std::move(changed));
  }

 private:
  static void note_version(StoreState& state, const void* object) {
    const std::string_view version = state.access->resource_version(object);
    if (!version.empty()) set_version(state, version);
  }

  void put(StoreState& state, const StoreState::Place& place, const ObjectRef& object,
           const IndexValues& values) {
    const void* now = object.get();
    if (place.slot != nullptr) {
      reindex_labels(state, place.number, place.slot->object.get(), now);
      reindex_values(state, place.number, place.slot->values, values);
      state.slots.set(place.number, {object, values});
      return;
    }
    const std::uint32_t number = take_slot();
    state.slots.set(number, {object, values});
    const std::string_view space = state.access->namespace_(now);
    state.keys.insert(short_hash(hash_key(space, state.access->name(now))), number);
    if (state.has_namespaces) state.namespaces.insert(entry(hash_value_text(space), number));
    reindex_labels(state, number, nullptr, now);
    reindex_values(state, number, {}, values);
  }

  /// Returns the slot that was freed last, or a new one.
  std::uint32_t take_slot() noexcept {
    if (!freed_.empty()) {
      const std::uint32_t number = freed_.back();
      freed_.pop_back();
      return number;
    }
    return reused_ < free_.size() ? free_[free_.size() - ++reused_] : next_++;
  }

  using Hashes = std::vector<std::uint64_t>;
  static void sort_unique(Hashes& hashes) {
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  }
  static void difference(PersistentSet& set, std::uint32_t slot, const Hashes& old,
                         const Hashes& now) {
    for (const std::uint64_t hash : old) {
      if (!std::binary_search(now.begin(), now.end(), hash)) set.erase(entry(hash, slot));
    }
    for (const std::uint64_t hash : now) {
      if (!std::binary_search(old.begin(), old.end(), hash)) set.insert(entry(hash, slot));
    }
  }

  void reindex_labels(StoreState& state, std::uint32_t slot, const void* old, const void* now) {
    if (!state.has_labels) return;
    if (old != nullptr && now != nullptr && state.access->share_labels(old, now)) return;
    const auto collect = [&](const void* object, Hashes& hashes) {
      hashes.clear();
      if (object == nullptr) return;
      state.access->each_label(object, [&](std::string_view key, std::string_view value) {
        hashes.push_back(hash_label(key, value));
      });
      sort_unique(hashes);
    };
    collect(old, old_);
    collect(now, now_);
    difference(state.labels, slot, old_, now_);
  }

  void reindex_values(StoreState& state, std::uint32_t slot, const IndexValues& old,
                      const IndexValues& now) {
    for (std::uint32_t i = 0; i < state.indexes.size(); ++i) {
      const auto collect = [&](const IndexValues& values, Hashes& hashes) {
        hashes.clear();
        values.visit([&](std::uint32_t index, std::string_view value) {
          if (index == i) hashes.push_back(hash_value_text(value));
        });
        sort_unique(hashes);
      };
      collect(old, old_);
      collect(now, now_);
      difference(state.indexes[i].entries, slot, old_, now_);
    }
  }

  // Free list of the published state: a stack of slots, and the lowest number that was never used.
  std::vector<std::uint32_t> free_;
  std::uint32_t committed_ = 0;
  // Changes that the write in progress makes to it:
  std::vector<std::uint32_t> freed_;
  std::size_t reused_ = 0;  // number of entries of `free_` taken, from its end
  std::uint32_t next_ = 0;
  Hashes old_;  // scratch buffers
  Hashes now_;
};

namespace {

/// Calls all index functions for an object, and reports those that throw to the options. Rethrows
/// std::bad_alloc: it is not an error of the object, which would be missing in the index
/// permanently.
template <typename Functions>
IndexValues compute_values(const Functions& functions, const ObjectAccess& access,
                           const IndexerOptions& options, const void* object) {
  std::vector<std::pair<std::uint32_t, std::string>> values;
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    try {
      for (std::string& value : functions[i].function(object)) {
        values.emplace_back(i, std::move(value));
      }
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      if (!options.on_error) continue;
      with_current_exception([&](const std::exception& thrown) {
        const CacheError error{.place = CacheError::Place::kIndex,
                               .name = functions[i].name,
                               .key = access.key(object),
                               .message = thrown.what(),
                               .cause = std::current_exception()};
        try {
          options.on_error(error);
        } catch (...) {  // NOLINT(bugprone-empty-catch): nothing is left to report it to
        }
      });
    }
  }
  return IndexValues{values};
}

}  // namespace

IndexerCore::State IndexerCore::empty_state(const ObjectAccess& access,
                                            const IndexerOptions& options) {
  auto state = std::make_shared<StoreState>();
  state->access = &access;
  state->has_labels = options.label_index;
  state->has_namespaces = options.namespace_index;
  return state;
}

IndexerCore::IndexerCore(const ObjectAccess& access, IndexerOptions options)
    : access_(access),
      options_(std::move(options)),
      writer_(std::make_unique<Writer>()),
      state_(empty_state(access_, options_)),
      functions_(std::make_shared<const Functions>()) {}

IndexerCore::~IndexerCore() = default;

StoreSnapshot IndexerCore::snapshot() const { return StoreSnapshot{state()}; }

std::shared_ptr<const IndexerCore::Functions> IndexerCore::functions() const {
  const std::lock_guard guard{mutex_};
  return functions_;
}

ObjectRef IndexerCore::find(std::string_view space, std::string_view name) const {
  return (*state_.read())->find(space, name);
}

void IndexerCore::publish(State next) {
  state_.publish(std::move(next));
  {
    // A waiter checks the state under this lock: it has either registered before, or sees the new
    // state.
    const std::lock_guard guard{mutex_};
    if (waiting_ == 0) return;
  }
  reached_.notify_all();
}

std::uint64_t IndexerCore::apply(const std::vector<StoreChange>& changes,
                                 std::vector<StoreResult>& results) {
  for (;;) {
    results.assign(changes.size(), {});
    const auto functions = this->functions();
    std::vector<IndexValues> values(changes.size());
    if (!functions->empty()) {
      for (std::size_t i = 0; i < changes.size(); ++i) {
        if (!changes[i].erase) {
          values[i] = compute_values(*functions, access_, options_, changes[i].object.get());
        }
      }
    }
    const std::lock_guard guard{writer_->mutex};
    if (functions != this->functions()) continue;  // an index was added meanwhile
    writer_->begin();
    auto next = std::make_shared<StoreState>(*state());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (i % Writer::kAtOnce == 0) {
        Writer::prefetch(*next, std::span{changes}.subspan(i).first(
                                    std::min(Writer::kAtOnce, changes.size() - i)));
      }
      writer_->apply(*next, changes[i], values[i], results[i]);
    }
    const std::uint64_t sequence = ++next->sequence;
    writer_->prepare_commit();
    publish(std::move(next));
    writer_->commit();
    return sequence;
  }
}

std::uint64_t IndexerCore::replace(const std::vector<ObjectRef>& objects, std::string_view version,
                                   std::vector<StoreResult>& results,
                                   std::vector<ObjectRef>& removed) {
  for (;;) {
    results.assign(objects.size(), {});
    removed.clear();
    const auto functions = this->functions();
    std::vector<IndexValues> values;
    if (!functions->empty()) {
      for (const ObjectRef& object : objects) {
        values.push_back(compute_values(*functions, access_, options_, object.get()));
      }
    }
    const std::lock_guard guard{writer_->mutex};
    if (functions != this->functions()) continue;
    writer_->begin();
    auto next = std::make_shared<StoreState>(*state());
    std::vector<bool> listed(writer_->slots() + objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const void* object = objects[i].get();
      writer_->apply(*next, {objects[i]}, values.empty() ? IndexValues{} : values[i], results[i]);
      if (!results[i].error.empty()) continue;
      listed[next->find_slot(access_.namespace_(object), access_.name(object)).number] = true;
    }
    std::vector<std::uint32_t> leaving;
    next->slots.visit([&](std::uint32_t number, const StoredObject& slot) {
      if (!listed[number]) {
        leaving.push_back(number);
        removed.push_back(slot.object);
      }
      return true;
    });
    for (const std::uint32_t number : leaving) writer_->erase(*next, number);
    Writer::set_version(*next, version);
    const std::uint64_t sequence = ++next->sequence;
    writer_->prepare_commit();
    publish(std::move(next));
    writer_->commit();
    return sequence;
  }
}

void IndexerCore::set_version(std::string_view version) {
  const std::lock_guard guard{writer_->mutex};
  auto next = std::make_shared<StoreState>(*state());
  Writer::set_version(*next, version);
  publish(std::move(next));
}

void IndexerCore::add_indexes(const std::vector<std::pair<std::string, IndexFunction>>& indexes) {
  if (indexes.empty()) return;
  // Index functions are not called under a lock. So the values are computed from a snapshot, then
  // again for objects that have changed meanwhile, until none has.
  struct Computed {
    ObjectRef object;
    IndexValues values;
  };
  std::vector<Computed> computed;
  for (;;) {
    const auto before = functions();
    auto all = std::make_shared<Functions>(*before);
    for (const auto& [name, function] : indexes) {
      const bool taken = (name == kNamespaceIndex && options_.namespace_index) ||
                         std::any_of(all->begin(), all->end(),
                                     [&, &n = name](const auto& f) { return f.name == n; });
      if (taken) throw std::invalid_argument("indexer conflict: " + name);
      all->push_back({name, function});
    }
    const State seen = state();
    seen->slots.visit([&](std::uint32_t number, const StoredObject& slot) {
      if (computed.size() <= number) computed.resize(number + std::size_t{1});
      if (computed[number].object != slot.object) {
        computed[number] = {slot.object,
                            compute_values(*all, access_, options_, slot.object.get())};
      }
      return true;
    });

    const std::lock_guard guard{writer_->mutex};
    if (before != functions()) {
      computed.clear();
      continue;
    }
    if (state() != seen) continue;
    auto next = std::make_shared<StoreState>(*seen);
    for (const auto& [name, function] : indexes) next->indexes.push_back({name, {}});
    seen->slots.visit([&](std::uint32_t number, const StoredObject&) {
      writer_->add_values(*next, number, std::move(computed[number].values));
      return true;
    });
    publish(std::move(next));
    const std::lock_guard publishing{mutex_};
    functions_ = std::move(all);
    return;
  }
}

std::vector<std::string> IndexerCore::index_values_of(std::string_view index,
                                                      const void* example) const {
  const auto known = functions();
  for (const NamedFunction& one : *known) {
    if (one.name == index) return one.function(example);
  }
  if (index == kNamespaceIndex && options_.namespace_index) {
    return {std::string{access_.namespace_(example)}};
  }
  throw std::out_of_range(fmt::format("Index with name {} does not exist", index));
}

bool IndexerCore::wait_for_version(std::string_view version, std::optional<Clock::Duration> timeout,
                                   std::stop_token stop) const {
  Clock& clock = *options_.clock;
  const auto deadline = timeout ? time_after(clock, *timeout) : Clock::TimePoint::max();
  std::unique_lock lock{mutex_};
  struct Waiter {
    explicit Waiter(std::size_t& count) : waiting(count) { ++waiting; }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() { --waiting; }
    std::size_t& waiting;
  } waiter{waiting_};
  return clock.wait_until(lock, reached_, deadline, std::move(stop), [&] {
    const auto order = compare_resource_versions(state()->newest, version);
    return order == std::partial_ordering::greater || order == std::partial_ordering::equivalent;
  });
}

}  // namespace kube::detail
