// SPDX-License-Identifier: Apache-2.0
#include "cache/store/key_table.hpp"
#include "cache/store/persistent_set.hpp"
#include "cache/store/slot_table.hpp"
#include "support/failing_memory.hpp"
#include "support/items.hpp"

#include "base/heap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <new>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace kube::detail {
namespace {

using testing_support::item;
using testing_support::MemoryFault;
using testing_support::pieces_in_use;

std::vector<std::uint64_t> content(const PersistentSet& set) {
  std::vector<std::uint64_t> keys;
  set.visit(0, UINT64_MAX, [&](std::uint64_t key) {
    keys.push_back(key);
    return true;
  });
  return keys;
}

/// Returns the pieces in use, once the heap has allocated its own.
std::int64_t pieces_at_first() {
  heap_release(heap_allocate(1));
  return pieces_in_use();
}

/// Makes a change; before that, the same change with each of its allocations failing. Returns the
/// number of allocations.
template <typename Change, typename Check>
std::uint64_t change_with_faults(const Change& change, const Check& unchanged) {
  for (std::uint64_t number = 1;; ++number) {
    try {
      const MemoryFault fault{number};
      change();
      return number - 1;
    } catch (const std::bad_alloc&) {
      unchanged();
    }
  }
}

// A set of all sizes up to three levels, changed while old versions share its nodes. Each
// allocation of each change fails once: the set must be unchanged, with nothing leaked.
TEST(PersistentSet, IsUnchangedWhenMemoryRunsOut) {
  std::mt19937_64 random{3};
  const std::int64_t before = pieces_at_first();
  std::uint64_t faults = 0;
  {
    PersistentSet set;
    std::set<std::uint64_t> model;
    PersistentSet shared;
    for (int step = 0; step < 12'000; ++step) {
      const std::uint64_t key = random() % 9'000;
      const bool insert = random() % 100 < (step < 6'000 ? 85U : 10U);
      if (step % 5 == 0) shared = set;
      const auto change = [&] { insert ? set.insert(key) : set.erase(key); };
      faults += change_with_faults(change, [&] {
        ASSERT_EQ(set.size(), model.size());
        ASSERT_EQ(set.contains(key), model.contains(key));
      });
      if (insert) {
        model.insert(key);
      } else {
        model.erase(key);
      }
      ASSERT_EQ(set.size(), model.size());
      if (step % 500 == 0) {
        ASSERT_EQ(content(set), std::vector<std::uint64_t>(model.begin(), model.end()));
        ASSERT_EQ(set.count(100, 4'000), static_cast<std::size_t>(std::distance(
                                             model.lower_bound(100), model.upper_bound(4'000))));
      }
    }
  }
  EXPECT_GT(faults, 5'000U);
  EXPECT_EQ(pieces_in_use(), before);
}

TEST(KeyTable, IsUnchangedWhenMemoryRunsOut) {
  std::mt19937_64 random{5};
  const std::int64_t before = pieces_at_first();
  std::uint64_t faults = 0;
  {
    KeyTable table;
    KeyTable shared;
    std::set<std::pair<std::uint32_t, std::uint32_t>> model;
    const auto has = [&](std::uint32_t hash, std::uint32_t slot) {
      bool found = false;
      table.visit(hash, [&](std::uint32_t number) { return !(found = number == slot); });
      return found;
    };
    for (int step = 0; step < 8'000; ++step) {
      // Few hashes, so several slots share one.
      const auto slot = static_cast<std::uint32_t>(random() % 3'000);
      const std::uint32_t hash = slot % 900 * 4'000'037U;
      const bool there = model.contains({hash, slot});
      if (step % 4 == 0) shared = table;
      const auto change = [&] { there ? table.erase(hash, slot) : table.insert(hash, slot); };
      faults += change_with_faults(change, [&] {
        ASSERT_EQ(table.size(), model.size());
        ASSERT_EQ(has(hash, slot), there);
      });
      if (there) {
        model.erase({hash, slot});
      } else {
        model.insert({hash, slot});
      }
      ASSERT_EQ(table.size(), model.size());
      ASSERT_EQ(has(hash, slot), !there);
    }
    for (const auto& [hash, slot] : model) ASSERT_TRUE(has(hash, slot));
  }
  EXPECT_GT(faults, 5'000U);
  EXPECT_EQ(pieces_in_use(), before);
}

TEST(SlotTable, IsUnchangedWhenMemoryRunsOut) {
  std::mt19937_64 random{7};
  const ObjectRef object = ObjectRef::from(item("", "a"));
  const std::int64_t before = pieces_at_first();
  std::uint64_t faults = 0;
  {
    SlotTable table;
    SlotTable shared;
    std::set<std::uint32_t> model;
    for (int step = 0; step < 8'000; ++step) {
      const auto number = static_cast<std::uint32_t>(random() % (step < 1'000 ? 200 : 20'000));
      const bool fill = random() % 2 == 0;
      if (step % 3 == 0) shared = table;
      const auto change = [&] { table.set(number, {fill ? object : ObjectRef{}, {}}); };
      faults += change_with_faults(
          change, [&] { ASSERT_EQ(table.find(number) != nullptr, model.contains(number)); });
      if (fill) {
        model.insert(number);
      } else {
        model.erase(number);
      }
      if (step % 500 != 0) continue;
      std::set<std::uint32_t> found;
      table.visit([&](std::uint32_t used, const StoredObject&) {
        found.insert(used);
        return true;
      });
      ASSERT_EQ(found, model);
    }
    for (const std::uint32_t number : model) table.set(number, {});
    EXPECT_EQ(table.bytes(), 0U);
  }
  EXPECT_GT(faults, 3'000U);
  EXPECT_EQ(pieces_in_use(), before);
}

}  // namespace
}  // namespace kube::detail
