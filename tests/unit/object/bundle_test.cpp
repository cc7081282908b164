// SPDX-License-Identifier: Apache-2.0
#include "object/bundle.hpp"

#include "object/arena.hpp"
#include "object/intern.hpp"
#include <kube/object/pool.hpp>
#include <kube/object/ref.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using detail::Arena;
using detail::Block;
using detail::block_of;
using detail::Bundle;
using detail::intern_text;
using detail::Node;
using detail::ref_to_root;
using detail::Word;

constexpr std::size_t kWords = 12;

const Word& word_of(const Block& block, std::size_t index) {
  return reinterpret_cast<const Word*>(block.root())[index];
}

/// Blocks of twelve words, each with a text from the pool, created by one arena.
class Bundles : public testing::Test {
 protected:
  /// Creates a block whose texts are numbered from 0.
  Block* fresh(bool for_others = true) {
    auto* words = reinterpret_cast<Word*>(arena.allocate_root(kWords * sizeof(Word)));
    for (std::size_t i = 0; i < kWords; ++i) arena.set_node(words[i], number(i));
    return arena.finish(for_others);
  }
  /// Creates a block with the first `taken` words of `like`; the other texts are numbered from 100.
  Block* similar(const Block& like, std::size_t taken, bool for_others = false) {
    auto* words = reinterpret_cast<Word*>(arena.allocate_root(kWords * sizeof(Word)));
    arena.lend(like.bundle);
    for (std::size_t i = 0; i < kWords; ++i) {
      if (i < taken) {
        arena.share_node(words[i], word_of(like, i));
      } else {
        arena.set_node(words[i], number(100 + i));
      }
    }
    return arena.finish(for_others);
  }
  Node* number(std::size_t number) {
    return intern_text(pool, "the text with the number " + std::to_string(number));
  }
  static std::uint32_t counted(const Block& block, std::size_t index) {
    return word_of(block, index).node()->references.load();
  }

  Pool pool;
  Arena arena;
};

TEST_F(Bundles, HoldTheNodesOfASiblingBlock) {
  Block* block = fresh();

  ASSERT_NE(block->bundle, nullptr);
  EXPECT_EQ(block->bundle->size(), kWords);
  EXPECT_EQ(block->node_words, 0U);
  EXPECT_EQ(word_of(*block, 3).text(), "the text with the number 3");
  EXPECT_EQ(pool.totals().nodes, kWords);
  block->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreNotCreatedForOtherBlocks) {
  Block* block = fresh(false);

  EXPECT_EQ(block->bundle, nullptr);
  EXPECT_EQ(block->node_words, kWords);
  block->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreSharedByABlockThatSharesNearlyAllNodes) {
  Block* first = fresh();
  Block* second = similar(*first, kWords - 2);

  EXPECT_EQ(second->bundle, first->bundle);
  EXPECT_EQ(first->bundle->references(), 2U);
  EXPECT_EQ(counted(*first, 0), 1U);  // the node itself was not counted
  EXPECT_EQ(second->node_words, 2U);
  first->release();
  EXPECT_EQ(word_of(*second, 0).text(), "the text with the number 0");
  EXPECT_EQ(word_of(*second, kWords - 1).text(), "the text with the number 111");
  second->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreNotUsedByABlockThatSharesFewNodes) {
  Block* first = fresh();
  Block* second = similar(*first, kWords / 2);

  EXPECT_EQ(second->bundle, nullptr);
  EXPECT_EQ(second->node_words, kWords);
  EXPECT_EQ(counted(*first, 0), 2U);
  first->release();
  EXPECT_EQ(pool.totals().nodes, kWords);  // nodes that only the first block used are released
  EXPECT_EQ(word_of(*second, 0).text(), "the text with the number 0");
  second->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreRecreatedWhenTooManyNodesDiffer) {
  Block* first = fresh();
  Block* second = similar(*first, kWords / 2, true);

  ASSERT_NE(second->bundle, nullptr);
  EXPECT_NE(second->bundle, first->bundle);
  EXPECT_EQ(second->node_words, 0U);
  first->release();
  EXPECT_EQ(pool.totals().nodes, kWords);
  second->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreKeptByASuccessorThatDiffersLittle) {
  Block* first = fresh();
  Block* second = similar(*first, kWords - 1, true);

  EXPECT_EQ(second->bundle, first->bundle);
  first->release();
  second->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, DoNotHoldLargeNodes) {
  auto* words = reinterpret_cast<Word*>(arena.allocate_root(kWords * sizeof(Word)));
  arena.set_node(words[0], intern_text(pool, std::string(Bundle::kLargestNode + 1, 'x')));
  for (std::size_t i = 1; i < kWords; ++i) arena.set_node(words[i], number(i));
  Block* block = arena.finish(true);

  EXPECT_EQ(block->bundle->size(), kWords - 1);
  EXPECT_EQ(block->node_words, 1U);
  Block* second = similar(*block, 1);  // only the large node
  EXPECT_EQ(counted(*block, 0), 2U);
  block->release();
  second->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, AreReleasedWhenTheArenaIsCleared) {
  Block* first = fresh();
  auto* words = reinterpret_cast<Word*>(arena.allocate_root(2 * sizeof(Word)));
  arena.lend(first->bundle);
  arena.share_node(words[0], word_of(*first, 0));
  arena.assign(words[1], words[0]);
  arena.drop(words[0]);
  arena.clear();

  EXPECT_EQ(counted(*first, 0), 1U);
  EXPECT_EQ(first->bundle->references(), 1U);
  first->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST_F(Bundles, CountInPartForEachBlockThatHasThem) {
  const Ref<std::byte> first = [&] {
    Block* block = fresh();
    return ref_to_root<std::byte>(block);
  }();
  const std::size_t alone = bytes_of(first).shared;
  const Ref<std::byte> second = [&] {
    Block* block = similar(*block_of(first), kWords);
    return ref_to_root<std::byte>(block);
  }();

  EXPECT_GT(alone, pool.totals().bytes);  // includes the bundle itself
  EXPECT_EQ(bytes_of(first).shared, alone / 2);
  EXPECT_EQ(bytes_of(second).shared, alone / 2);
}

TEST_F(Bundles, AreReleasedByManyThreads) {
  constexpr std::size_t kBlocks = 400;
  Block* first = fresh();
  std::vector<Block*> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(similar(*first, kWords - 1));
  first->release();
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::size_t mine = next++; mine < kBlocks; mine = next++) blocks[mine]->release();
      });
    }
  }

  EXPECT_EQ(pool.totals().nodes, 0U);
}

}  // namespace
}  // namespace kube
