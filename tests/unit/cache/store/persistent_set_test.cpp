// SPDX-License-Identifier: Apache-2.0
#include "cache/store/persistent_set.hpp"

#include "cache/store/slot_table.hpp"
#include "support/items.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace kube::detail {
namespace {

std::vector<std::uint64_t> content(const PersistentSet& set, std::uint64_t first = 0,
                                   std::uint64_t last = UINT64_MAX) {
  std::vector<std::uint64_t> keys;
  set.visit(first, last, [&](std::uint64_t key) {
    keys.push_back(key);
    return true;
  });
  return keys;
}

TEST(PersistentSet, EqualsAModelUnderRandomChangesWhileOldVersionsStay) {
  std::mt19937_64 random{7};
  PersistentSet set;
  std::set<std::uint64_t> model;
  std::vector<std::pair<PersistentSet, std::set<std::uint64_t>>> versions;
  for (int step = 0; step < 60'000; ++step) {
    // Grows at first, shrinks to nothing later.
    const std::uint64_t key = random() % 20'000;
    if (random() % 100 < (step < 30'000 ? 80U : 15U)) {
      set.insert(key);
      model.insert(key);
    } else {
      set.erase(key);
      model.erase(key);
    }
    if (step % 3'000 == 0) versions.emplace_back(set, model);
  }
  versions.emplace_back(set, model);

  for (const auto& [version, expected] : versions) {
    ASSERT_EQ(version.size(), expected.size());
    EXPECT_EQ(content(version), std::vector<std::uint64_t>(expected.begin(), expected.end()));
    const auto from = expected.lower_bound(5'000);
    const auto to = expected.upper_bound(7'000);
    EXPECT_EQ(content(version, 5'000, 7'000), std::vector<std::uint64_t>(from, to));
    EXPECT_EQ(version.count(5'000, 7'000), static_cast<std::size_t>(std::distance(from, to)));
    EXPECT_EQ(version.count(0, UINT64_MAX), expected.size());
  }
}

TEST(PersistentSet, GivesBackItsMemoryWhenItShrinks) {
  PersistentSet set;
  for (std::uint64_t i = 0; i < 10'000; ++i) set.insert(i * 7919 % 10'007);
  const std::size_t full = set.bytes();
  EXPECT_LT(full / set.size(), 13U);

  for (std::uint64_t i = 0; i < 10'007; ++i) {
    if (i % 16 != 0) set.erase(i);
  }
  EXPECT_LT(set.bytes(), full / 5);
  for (std::uint64_t i = 0; i < 10'007; ++i) set.erase(i);
  EXPECT_EQ(set.bytes(), 0U);
  EXPECT_EQ(set.size(), 0U);
}

TEST(PersistentSet, StopsAVisitWhenAsked) {
  PersistentSet set;
  for (std::uint64_t i = 0; i < 1'000; ++i) set.insert(i);
  int seen = 0;
  set.visit(0, UINT64_MAX, [&](std::uint64_t) { return ++seen < 10; });
  EXPECT_EQ(seen, 10);
}

TEST(SlotTable, EqualsAModelUnderRandomChangesWhileOldVersionsStay) {
  using testing_support::item;
  std::mt19937_64 random{11};
  SlotTable table;
  std::map<std::uint32_t, ObjectRef> model;
  std::vector<std::pair<SlotTable, std::map<std::uint32_t, ObjectRef>>> versions;
  const ObjectRef objects[] = {ObjectRef::from(item("", "a")), ObjectRef::from(item("", "b"))};
  for (int step = 0; step < 20'000; ++step) {
    const auto number = static_cast<std::uint32_t>(random() % (step < 5'000 ? 600 : 40'000));
    const ObjectRef object = random() % 3 == 0 ? ObjectRef{} : objects[random() % 2];
    table.set(number, {object, {}});
    if (object) {
      model[number] = object;
    } else {
      model.erase(number);
    }
    if (step % 2'000 == 0) versions.emplace_back(table, model);
  }
  versions.emplace_back(table, model);
  for (const auto& [version, expected] : versions) {
    std::map<std::uint32_t, ObjectRef> found;
    version.visit([&](std::uint32_t number, const StoredObject& slot) {
      found.emplace(number, slot.object);
      return true;
    });
    EXPECT_EQ(found, expected);
    for (std::uint32_t number = 0; number < 700; ++number) {
      const StoredObject* slot = version.find(number);
      EXPECT_EQ(slot == nullptr ? ObjectRef{} : slot->object,
                expected.contains(number) ? expected.at(number) : ObjectRef{});
    }
  }
  for (std::uint32_t number = 0; number < 40'000; ++number) table.set(number, {});
  EXPECT_EQ(table.bytes(), 0U);
}

}  // namespace
}  // namespace kube::detail
