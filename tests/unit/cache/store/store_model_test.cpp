// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/indexer.hpp>

#include "support/failing_memory.hpp"
#include "support/items.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kube {
namespace {

using detail::IndexerCore;
using detail::ObjectRef;
using detail::StoreChange;
using detail::StoreResult;
using testing_support::Item;
using testing_support::MemoryFault;
using testing_support::pieces_in_use;
using Strings = std::vector<std::string>;
using Addresses = std::set<const Item*>;

Addresses addresses(const std::vector<Ref<Item>>& objects) {
  Addresses result;
  for (const Ref<Item>& object : objects) result.insert(object.get());
  return result;
}

/// Returns the values under which the index with this number files an object; for some objects its
/// function throws instead.
Strings values_of(std::size_t index, const Item& object) {
  const std::string version = object.metadata.resource_version.str();
  const int last = version.empty() ? 0 : version.back() - '0';
  switch (index) {
    case 0:
      return {fmt::format("{}", last % 3), "all"};
    case 1:
      if (last == 7) throw 42;  // NOLINT: anything may be thrown
      if (last == 8) throw std::runtime_error("of no use");
      return last % 2 == 0 ? Strings{} : Strings{object.metadata.namespace_.str()};
    default:
      return {object.metadata.name.str()};
  }
}

/// The content of a store, as a map.
struct Model {
  std::map<std::string, Ref<Item>> objects;
  std::string version;
  std::size_t indexes = 0;

  void note_version(const Ref<Item>& object) {
    if (!object->metadata.resource_version.empty()) {
      version = object->metadata.resource_version.str();
    }
  }
  void upsert(const Ref<Item>& object) {
    note_version(object);
    Ref<Item>& place = objects[detail::kObjectAccess<Item>.key(object.get())];
    if (!place || !detail::kObjectAccess<Item>.same_version(place.get(), object.get())) {
      place = object;
    }
  }
  [[nodiscard]] Ref<Item> find(const std::string& key) const {
    const auto found = objects.find(key);
    return found == objects.end() ? nullptr : found->second;
  }
  /// Returns the objects for which `accept` returns true.
  template <typename Accept>
  [[nodiscard]] Addresses where(const Accept& accept) const {
    Addresses found;
    for (const auto& [key, object] : objects) {
      if (accept(*object)) found.insert(object.get());
    }
    return found;
  }
  /// Returns the content of an index.
  [[nodiscard]] std::map<std::string, Addresses> filed(std::size_t index) const {
    std::map<std::string, Addresses> found;
    for (const auto& [key, object] : objects) {
      try {
        for (const std::string& value : values_of(index, *object)) {
          found[value].insert(object.get());
        }
      } catch (...) {  // NOLINT(bugprone-empty-catch): under no value
      }
    }
    return found;
  }
};

/// A store and its model, which receive the same operations. In some writes an allocation fails:
/// the store must be unchanged then.
class Pair {
 public:
  explicit Pair(std::mt19937& random) : random_(random) { make(); }

  /// Does one random operation.
  void step() {
    const auto choice = random_() % 100;
    if (choice < 55) {
      apply();
    } else if (choice < 60) {
      replace();
    } else if (choice < 64) {
      set_version();
    } else if (choice < 65) {
      add_index();
    } else if (choice < 72) {
      keep_snapshot();
    } else {
      read();
    }
  }
  void compare() const { compare(indexer_->snapshot(), model_); }
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }

 private:
  void make() {
    core_ = std::make_shared<IndexerCore>(
        detail::kObjectAccess<Item>, IndexerOptions{.on_error = [this](const CacheError& error) {
          EXPECT_FALSE(error.key.empty());
          EXPECT_FALSE(error.message.empty());
          if (random_() % 4 == 0) throw 43;  // NOLINT: anything may be thrown
        }});
    indexer_ = detail::Inside::make<Indexer<Item>>(core_);
  }

  /// Makes a write, in which an allocation may fail. Returns true if it succeeded.
  template <typename Write>
  bool attempt(const Write& write) {
    if (random_() % 3 != 0) {
      write();
      return true;
    }
    // Usually an early allocation, sometimes one of the last.
    const std::uint64_t number = 1 + random_() % (random_() % 2 == 0 ? 12 : 150);
    bool threw = false;
    {
      const MemoryFault fault{number};
      try {
        write();
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    }
    if (!threw) return true;
    ++faults_;
    compare();
    return false;
  }

  std::string random_key() { return fmt::format("n{}/{}", random_() % 4, random_() % 40); }
  Ref<Item> random_object(const std::string& key) {
    // Sometimes the version is unchanged, so the object counts as unchanged. Some objects have no
    // version.
    const auto kind = random_() % 20;
    if (kind > 1) ++version_;
    const auto parts = detail::KeyParts::of(key);
    const std::string app = fmt::format("{}", random_() % 5);
    const std::string tier = fmt::format("{}", random_() % 2);
    return testing_support::item(parts.namespace_, parts.name,
                                 kind == 0 ? std::string{} : fmt::format("{}", version_),
                                 {{"app", app}, {random_() % 2 == 0 ? "tier" : "other", tier}});
  }

  void apply() {
    std::vector<StoreChange> changes;
    Strings keys;
    Model after;  // the changed entries; null: deleted
    std::vector<Ref<Item>> before;
    for (std::size_t left = 1 + random_() % (random_() % 10 == 0 ? 60 : 6); left > 0; --left) {
      const std::string key = random_key();
      keys.push_back(key);
      before.push_back(after.objects.try_emplace(key, model_.find(key)).first->second);
      const auto kind = random_() % 10;
      if (kind < 6) {
        const Ref<Item> object = random_object(key);
        changes.push_back({.object = ObjectRef::from(object)});
        after.upsert(object);
      } else if (kind < 8) {
        const Ref<Item> last = random_object(key);
        changes.push_back({.object = ObjectRef::from(last), .erase = true});
        after.objects[key] = nullptr;
        after.note_version(last);
      } else {
        changes.push_back({.erase = true, .tombstone = true, .key = key});
        after.objects[key] = nullptr;
      }
    }
    std::vector<StoreResult> results;
    if (!attempt([&] { core_->apply(changes, results); })) return;
    for (const auto& [key, object] : after.objects) {
      if (object) {
        model_.objects[key] = object;
      } else {
        model_.objects.erase(key);
      }
    }
    if (!after.version.empty()) model_.version = after.version;
    ASSERT_EQ(results.size(), changes.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(results[i].error, "");
      ASSERT_EQ(results[i].before.to<Item>().get(), before[i].get());
      ASSERT_EQ(indexer_->find(keys[i]).get(), model_.find(keys[i]).get());
    }
  }

  void replace() {
    Model after;
    after.indexes = model_.indexes;
    std::vector<ObjectRef> objects;
    std::vector<Ref<Item>> listed;
    for (std::size_t left = random_() % 120; left > 0; --left) {
      const std::string key = random_key();
      if (after.objects.contains(key)) continue;
      const Ref<Item> known = model_.find(key);
      const Ref<Item> object = known && random_() % 2 == 0 ? known : random_object(key);
      objects.push_back(ObjectRef::from(object));
      after.objects[key] =
          known && detail::kObjectAccess<Item>.same_version(known.get(), object.get()) ? known
                                                                                       : object;
    }
    after.version = fmt::format("{}", ++version_);
    std::set<const void*> gone;
    for (const auto& [key, object] : model_.objects) {
      if (!after.objects.contains(key)) gone.insert(object.get());
    }
    std::vector<StoreResult> results;
    std::vector<ObjectRef> removed;
    if (!attempt([&] { core_->replace(objects, after.version, results, removed); })) return;
    model_ = std::move(after);
    std::set<const void*> told;
    for (const ObjectRef& object : removed) told.insert(object.get());
    ASSERT_EQ(told, gone);
    compare();
  }

  void set_version() {
    const std::string version = fmt::format("{}", ++version_);
    if (attempt([&] { core_->set_version(version); })) model_.version = version;
  }

  void add_index() {
    const std::size_t number = model_.indexes;
    if (number == 3) return;
    const std::vector<std::pair<std::string, IndexerCore::IndexFunction>> added{
        {fmt::format("index{}", number), [number](const void* object) {
           return values_of(number, *static_cast<const Item*>(object));
         }}};
    if (attempt([&] { core_->add_indexes(added); })) ++model_.indexes;
    compare();
  }

  /// Keeps the current snapshot for a while, and checks an older one.
  void keep_snapshot() {
    kept_.emplace_back(indexer_->snapshot(), model_);
    if (kept_.size() > 6) kept_.pop_front();
    const auto& [snapshot, model] = kept_[random_() % kept_.size()];
    compare(snapshot, model);
  }

  /// Queries that may fail for lack of memory.
  void read() {
    const std::string key = random_key();
    const auto app = fmt::format("{}", random_() % 6);
    const auto selector = labels::Selector::parse("app=" + app);
    const std::string space = random_() % 2 == 0 ? "" : fmt::format("n{}", random_() % 5);
    Addresses selected;
    const bool answered = [&] {
      const MemoryFault fault{random_() % 4 == 0 ? 1 + random_() % 20 : 1'000'000};
      try {
        EXPECT_EQ(indexer_->find(key).get(), model_.find(key).get());
        selected = addresses(indexer_->list(space, selector));
        return true;
      } catch (const std::bad_alloc&) {
        return false;
      }
    }();
    if (!answered) return compare();
    ASSERT_EQ(selected, model_.where([&](const Item& object) {
      return (space.empty() || object.metadata.namespace_.view() == space) &&
             selector.matches(object.metadata.labels);
    }));
  }

  static void compare(const Snapshot<Item>& store, const Model& model) {
    ASSERT_EQ(store.size(), model.objects.size());
    ASSERT_EQ(store.resource_version(), model.version);
    std::size_t seen = 0;
    store.for_each([&](const Item& object) {
      ++seen;
      EXPECT_EQ(&object, model.find(detail::kObjectAccess<Item>.key(&object)).get());
    });
    ASSERT_EQ(seen, model.objects.size());
    for (const auto& [key, object] : model.objects) {
      ASSERT_EQ(store.find(key).get(), object.get());
    }
    ASSERT_EQ(store.index_names().size(), model.indexes + 1);
    for (std::size_t i = 0; i < model.indexes; ++i) {
      const std::string name = fmt::format("index{}", i);
      const auto filed = model.filed(i);
      Strings values;
      for (const auto& [value, objects] : filed) {
        ASSERT_EQ(addresses(store.by_index(name, value)), objects);
        values.push_back(value);
      }
      ASSERT_EQ(store.index_values(name), values);
      ASSERT_TRUE(store.by_index(name, "none").empty());
    }
    static const auto kSelector = labels::Selector::parse("tier,app!=2");
    ASSERT_EQ(addresses(store.list("n1", kSelector)), model.where([](const Item& object) {
      const auto& labels = object.metadata.labels;
      return object.metadata.namespace_.view() == "n1" && labels.find("tier") != nullptr &&
             labels.find("app")->view() != "2";
    }));
  }

  std::mt19937& random_;
  std::shared_ptr<IndexerCore> core_;
  std::optional<Indexer<Item>> indexer_;
  Model model_;
  std::deque<std::pair<Snapshot<Item>, Model>> kept_;
  std::uint64_t version_ = 0;
  std::uint64_t faults_ = 0;
};

/// A million with KUBECXX_STORE_STEPS=1000000.
std::size_t steps() {
  const char* text = std::getenv("KUBECXX_STORE_STEPS");
  return text == nullptr ? 40'000 : std::stoul(text);
}

// I-5, I-7, I-11, I-13, I-19, I-23..I-26, I-30, I-31, K-12, K-13: whatever is written and whatever
// fails, a store equals a map, either before or after a failed write; snapshots are immutable; and
// nothing is leaked.
TEST(Store, EqualsAModelWhateverFails) {
  std::mt19937 random{11};
  constexpr std::size_t kStepsOfAStore = 4'000;
  std::uint64_t faults = 0;
  std::int64_t at_first = 0;
  for (std::size_t step = 0; step < steps(); step += kStepsOfAStore) {
    {
      Pair pair{random};
      for (std::size_t i = 0; i < kStepsOfAStore; ++i) {
        ASSERT_NO_FATAL_FAILURE(pair.step()) << "step " << step + i;
        if (::testing::Test::HasFailure()) FAIL() << "step " << step + i;
      }
      pair.compare();
      faults += pair.faults();
    }
    // The first store leaves the thread's hazard pointer behind.
    if (step == 0) at_first = pieces_in_use();
    ASSERT_EQ(pieces_in_use(), at_first);
  }
  EXPECT_GT(faults, steps() / 20);
}

}  // namespace
}  // namespace kube
