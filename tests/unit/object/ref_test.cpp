// SPDX-License-Identifier: Apache-2.0
#include <kube/object/ref.hpp>

#include <kube/codec/decoder.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kube {
namespace {

using test::Everything;
using test::filled;
using test::Part;

TEST(Ref, IsNullByDefault) {
  const Ref<Part> none;

  EXPECT_FALSE(none);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(none.use_count(), 0U);
  EXPECT_EQ(bytes_of(none).own, 0U);
  EXPECT_EQ(none, Ref<Part>{nullptr});
}

TEST(Ref, CountsItsCopies) {
  Ref<Part> first = freeze(test::chain(2));
  EXPECT_EQ(first.use_count(), 1U);

  Ref<Part> second = first;
  EXPECT_EQ(first.use_count(), 2U);
  EXPECT_EQ(second.get(), first.get());
  const Ref<Part> third = std::move(second);
  EXPECT_EQ(first.use_count(), 2U);
  EXPECT_FALSE(second);  // NOLINT: what a moved-from Ref is, is the question
  first.reset();
  EXPECT_EQ(third.use_count(), 1U);
  EXPECT_EQ(*third, test::chain(2));
}

TEST(Ref, AssignmentReleasesWhatItHeld) {
  const BlockTotals before = block_totals();
  Ref<Part> ref = freeze(test::chain(1, "old"));

  ref = freeze(test::chain(1, "new"));
  EXPECT_EQ(block_totals().blocks, before.blocks + 1);
  ref = ref;  // NOLINT: to itself, on purpose
  EXPECT_EQ(*ref, test::chain(1, "new"));
  ref = nullptr;

  EXPECT_EQ(block_totals().blocks, before.blocks);
}

TEST(Ref, ToAPartKeepsTheWholeAlive) {
  Ref<Everything> whole = freeze(filled());
  const Ref<Part> part{whole, &whole->parts[1]};
  const Ref<String> name{part, &part->name};
  EXPECT_EQ(whole.use_count(), 3U);

  whole.reset();

  EXPECT_EQ(*part, filled().parts[1]);
  EXPECT_EQ(*name, filled().parts[1].name);
  EXPECT_EQ(name.use_count(), 2U);
}

TEST(Ref, ToAPartOfSharedContentKeepsTheNodeAlive) {
  const std::string text =
      R"({"metadata":{"name":"a-1"},"list":["a text of some length","another text of some length"]})";
  auto pool = std::make_shared<Pool>();
  Ref<Value> element;
  {
    Decoder<Value> decoder{{.pool = pool}};
    const Ref<Value> first = decoder.json(text);
    const Ref<Value> second = decoder.json(text);
    element = Ref<Value>{second, &(*second)["list"][1]};
  }
  ASSERT_GT(pool->totals().nodes, 0U);

  EXPECT_EQ(element->as_string(), "another text of some length");
  element.reset();
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(Ref, ComparesAndHashesByIdentity) {
  const Ref<Part> first = freeze(test::chain(1));
  const Ref<Part> same = first;
  const Ref<Part> equal = freeze(test::chain(1));

  EXPECT_EQ(first, same);
  EXPECT_NE(first, equal);
  EXPECT_TRUE(deep_equal(*first, *equal));
  const std::unordered_set<Ref<Part>> set{first, same, equal};
  EXPECT_EQ(set.size(), 2U);
}

TEST(Ref, CountsAcrossThreads) {
  const BlockTotals before = block_totals();
  {
    const Ref<Everything> shared = freeze(filled());
    std::vector<std::jthread> threads;
    std::vector<int> sizes(4);
    for (int& size : sizes) {
      threads.emplace_back([shared, &size] {
        for (int i = 0; i < 2000; ++i) {
          Ref<Everything> mine = shared;
          const Ref<Part> part{mine, &mine->parts[0]};
          mine.reset();
          size += static_cast<int>(part->name.size());
        }
      });
    }
    threads.clear();

    EXPECT_EQ(shared.use_count(), 1U);
    for (const int size : sizes) {
      EXPECT_EQ(size, 2000 * static_cast<int>(filled().parts[0].name.size()));
    }
  }
  EXPECT_EQ(block_totals().blocks, before.blocks);
}

TEST(Ref, IsReleasedLastByAnyThread) {
  const BlockTotals before = block_totals();
  for (int round = 0; round < 50; ++round) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([ref = freeze(test::chain(3))] { EXPECT_EQ(ref->count, 3); });
    }
    Ref<Everything> shared = freeze(filled());
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([mine = shared]() mutable { mine.reset(); });
    }
    shared.reset();
  }
  EXPECT_EQ(block_totals().blocks, before.blocks);
}

TEST(BlockTotals, CountLiveBlocks) {
  const BlockTotals before = block_totals();
  Ref<Part> small = freeze(Part{});
  const std::size_t small_bytes = block_totals().bytes - before.bytes;
  Ref<Everything> large = freeze(filled());

  EXPECT_EQ(block_totals().blocks, before.blocks + 2);
  EXPECT_EQ(small_bytes, bytes_of(small).own);
  EXPECT_EQ(block_totals().bytes, before.bytes + bytes_of(small).own + bytes_of(large).own);
  small.reset();
  EXPECT_EQ(block_totals().blocks, before.blocks + 1);
  large.reset();
  EXPECT_EQ(block_totals().blocks, before.blocks);
  EXPECT_EQ(block_totals().bytes, before.bytes);
}

TEST(BytesOf, GrowsWithTheContent) {
  const Ref<String> little = freeze(String{std::string(100, 'x')});
  const Ref<String> much = freeze(String{std::string(10'000, 'x')});

  EXPECT_GE(bytes_of(little).own, 100U);
  EXPECT_LT(bytes_of(little).own, 400U);
  EXPECT_GE(bytes_of(much).own, 10'000U);
  EXPECT_LT(bytes_of(much).own, 10'500U);
  EXPECT_EQ(bytes_of(much).shared, 0U);
}

TEST(BytesOf, DividesANodeAmongItsReferences) {
  const std::string text =
      R"({"metadata":{"name":"a-1"},"text":")" + std::string(3000, 'x') + "\"}";
  auto pool = std::make_shared<Pool>();
  std::vector<Ref<Value>> refs;
  {
    Decoder<Value> decoder{{.pool = pool}};
    for (int i = 0; i < 4; ++i) refs.push_back(decoder.json(text));
  }
  // The first object has its own copy; the others share one.
  ASSERT_EQ(pool->totals().nodes, 1U);
  const std::size_t node = pool->totals().bytes;

  EXPECT_GE(bytes_of(refs[0]).own, 3000U);
  for (std::size_t i = 1; i < refs.size(); ++i) {
    EXPECT_LT(bytes_of(refs[i]).own, 400U);
    EXPECT_EQ(bytes_of(refs[i]).shared, node / 3);
  }
  refs.pop_back();
  EXPECT_EQ(bytes_of(refs[1]).shared, node / 2);
}

}  // namespace
}  // namespace kube
