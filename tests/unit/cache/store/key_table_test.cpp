// SPDX-License-Identifier: Apache-2.0
#include "cache/store/key_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace kube::detail {
namespace {

using Model = std::set<std::pair<std::uint32_t, std::uint32_t>>;

std::set<std::uint32_t> slots(const KeyTable& table, std::uint32_t hash) {
  std::set<std::uint32_t> found;
  table.visit(hash, [&](std::uint32_t slot) { return found.insert(slot).second; });
  return found;
}

void expect_equal(const KeyTable& table, const Model& model,
                  const std::vector<std::uint32_t>& hashes) {
  ASSERT_EQ(table.size(), model.size());
  for (const std::uint32_t hash : hashes) {
    std::set<std::uint32_t> expected;
    for (auto at = model.lower_bound({hash, 0}); at != model.end() && at->first == hash; ++at) {
      expected.insert(at->second);
    }
    ASSERT_EQ(slots(table, hash), expected) << hash;
  }
}

TEST(KeyTable, EqualsAModelUnderRandomChangesWhileOldVersionsStay) {
  std::mt19937 random{7};
  // Some hashes differ only in their last bits, and some are equal for many slots.
  std::vector<std::uint32_t> hashes;
  for (std::uint32_t i = 0; i < 2'000; ++i) hashes.push_back(static_cast<std::uint32_t>(random()));
  for (std::uint32_t i = 0; i < 64; ++i) hashes.push_back(0xabcdef00U + i);
  KeyTable table;
  Model model;
  std::vector<std::pair<KeyTable, Model>> versions;
  for (int step = 0; step < 40'000; ++step) {
    const std::pair key{hashes[random() % hashes.size()],
                        static_cast<std::uint32_t>(random() % 40)};
    if (random() % 100 < (step < 20'000 ? 80U : 15U)) {
      if (model.insert(key).second) table.insert(key.first, key.second);
    } else {
      model.erase(key);
      table.erase(key.first, key.second);
    }
    if (step % 8'000 == 0) versions.emplace_back(table, model);
  }
  versions.emplace_back(table, model);
  for (const auto& [version, expected] : versions) expect_equal(version, expected, hashes);
}

TEST(KeyTable, FindsAllSlotsOfOneHashHoweverMany) {
  KeyTable table;
  for (std::uint32_t slot = 0; slot < 1'000; ++slot) table.insert(42, slot);
  EXPECT_EQ(slots(table, 42).size(), 1'000U);
  EXPECT_TRUE(slots(table, 43).empty());
  for (std::uint32_t slot = 0; slot < 1'000; ++slot) table.erase(42, slot);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.bytes(), 0U);
}

}  // namespace
}  // namespace kube::detail
