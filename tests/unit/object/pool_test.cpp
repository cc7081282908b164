// SPDX-License-Identifier: Apache-2.0
#include <kube/object/pool.hpp>

#include "object/arena.hpp"
#include "object/freeze.hpp"
#include "object/intern.hpp"
#include <kube/object/ref.hpp>

#include "support/forks.hpp"
#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube {
namespace {

using detail::Arena;
using detail::Content;
using detail::intern_text;
using detail::Node;
using detail::Word;

std::string_view text_of(const Node& node) {
  return {reinterpret_cast<const char*>(node.data()), node.count};
}

/// Creates a node with the image of `value`.
template <typename T>
Node* intern(Pool& pool, Arena& arena, const T& value) {
  arena.clear();
  std::byte* root = arena.allocate(sizeof(T));
  detail::freeze_into(arena, type_of<T>(), root, reinterpret_cast<const std::byte*>(&value),
                      detail::Nodes::kCopy);
  return detail::intern(pool, arena.image(root), 1, Content::kBytes);
}

TEST(Pool, GivesTheSameNodeForTheSameText) {
  Pool pool;

  Node* first = intern_text(pool, "a text");
  Node* second = intern_text(pool, std::string{"a "} + "text");
  Node* other = intern_text(pool, "another text");

  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(text_of(*first), "a text");
  EXPECT_EQ(pool.totals().nodes, 2U);
  for (Node* node : {first, second, other}) node->release();
}

TEST(Pool, GivesTheSameNodeForTheSameImage) {
  Pool pool;
  Arena arena;
  Arena other_arena;

  Node* first = intern(pool, arena, test::chain(3));
  Node* second = intern(pool, other_arena, test::chain(3));
  Node* other = intern(pool, arena, test::chain(3, "other"));

  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(*reinterpret_cast<const test::Part*>(first->data()), test::chain(3));
  for (Node* node : {first, second, other}) node->release();
}

// Text grows down and the image is aligned down to eight bytes; stale padding bytes must not make a
// difference.
TEST(Pool, ReturnsTheSameNodeDespiteStaleArenaBytes) {
  Pool pool;
  Arena fresh;
  Arena used;
  intern(pool, used, String{std::string(64, 'z')})->release();

  for (std::size_t size = 8; size < 24; ++size) {
    const String text{std::string(size, 'x')};
    Node* first = intern(pool, fresh, text);
    Node* second = intern(pool, used, text);

    EXPECT_EQ(first, second) << size;
    first->release();
    second->release();
    intern(pool, used, String{std::string(64, 'z')})->release();
  }
}

TEST(Pool, DistinguishesTextFromOtherContentOfTheSameBytes) {
  Pool pool;
  Arena arena;
  arena.allocate(16);
  const std::string zeros(16, '\0');

  Node* text = intern_text(pool, zeros);
  Node* list = detail::intern(pool, {std::as_bytes(std::span{zeros}), 0}, 2, Content::kList);
  Node* shorter = detail::intern(pool, {std::as_bytes(std::span{zeros}), 0}, 1, Content::kList);
  Node* later = detail::intern(pool, {std::as_bytes(std::span{zeros}), 8}, 1, Content::kList);

  EXPECT_NE(text, list);
  EXPECT_NE(list, shorter);
  EXPECT_NE(shorter, later);
  EXPECT_EQ(pool.totals().nodes, 4U);
  for (Node* node : {text, list, shorter, later}) node->release();
}

TEST(Pool, TotalsReturnToZeroWithTheLastReference) {
  Pool pool;
  std::vector<Node*> nodes;
  for (int i = 0; i < 1000; ++i)
    nodes.push_back(intern_text(pool, "text number " + std::to_string(i % 100)));
  EXPECT_EQ(pool.totals().nodes, 100U);
  EXPECT_GE(pool.totals().bytes, 100U * sizeof(Node));

  for (Node* node : nodes) node->release();

  EXPECT_EQ(pool.totals().nodes, 0U);
  EXPECT_EQ(pool.totals().bytes, 0U);
}

TEST(Pool, MakesANewNodeWhenTheOldOneIsGone) {
  Pool pool;
  intern_text(pool, "comes and goes")->release();

  Node* again = intern_text(pool, "comes and goes");

  EXPECT_EQ(text_of(*again), "comes and goes");
  EXPECT_EQ(pool.totals().nodes, 1U);
  again->release();
}

TEST(Pool, IsOutlivedByItsNodes) {
  Node* node = nullptr;
  {
    Pool pool;
    node = intern_text(pool, "outlives its pool");
  }

  EXPECT_EQ(text_of(*node), "outlives its pool");
  node->retain();
  node->release();
  node->release();
}

TEST(Pool, HashesDifferFromPoolToPool) {
  const Pool one;
  const Pool two;

  EXPECT_EQ(one.hash("some text"), one.hash("some text"));
  EXPECT_NE(one.hash("some text"), one.hash("some other text"));
  EXPECT_NE(one.hash("some text"), two.hash("some text"));
}

TEST(Pool, InternsAndReleasesFromSeveralThreads) {
  Pool pool;
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&pool, &wrong, t] {
        std::mt19937 random{static_cast<unsigned>(t)};
        std::vector<std::pair<std::string, Node*>> held;
        for (int i = 0; i < kRounds; ++i) {
          const std::string text = "shared text number " + std::to_string(random() % 20);
          held.emplace_back(text, intern_text(pool, text));
          if (held.size() > 8 || random() % 2 == 0) {
            const std::size_t chosen = random() % held.size();
            std::swap(held[chosen], held.back());
            if (text_of(*held.back().second) != held.back().first) ++wrong;
            held.back().second->release();
            held.pop_back();
          }
        }
        for (const auto& [expected, node] : held) {
          if (text_of(*node) != expected) ++wrong;
          node->release();
        }
      });
    }
  }

  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool.totals().nodes, 0U);
  EXPECT_EQ(pool.totals().bytes, 0U);
}

TEST(Pool, HasOneNodePerTextHoweverManyThreadsRace) {
  Pool pool;
  for (int round = 0; round < 200; ++round) {
    const std::string text = "raced for in round " + std::to_string(round);
    std::vector<Node*> nodes(3);
    {
      std::vector<std::jthread> threads;
      for (Node*& node : nodes) threads.emplace_back([&] { node = intern_text(pool, text); });
    }

    ASSERT_EQ(nodes[0], nodes[1]);
    ASSERT_EQ(nodes[0], nodes[2]);
    ASSERT_EQ(nodes[0]->references.load(), 3U);
    {
      std::vector<std::jthread> threads;
      for (Node* node : nodes) threads.emplace_back([node] { node->release(); });
    }
    ASSERT_EQ(pool.totals().nodes, 0U);
  }
}

TEST(Pool, MayBeDroppedWhileThreadsStillReleaseItsNodes) {
  for (int round = 0; round < 100; ++round) {
    auto pool = std::make_unique<Pool>();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      std::vector<Node*> nodes;
      for (int i = 0; i < 10; ++i)
        nodes.push_back(intern_text(*pool, "node number " + std::to_string(i)));
      threads.emplace_back([nodes] {
        for (Node* node : nodes) {
          EXPECT_TRUE(text_of(*node).starts_with("node number "));
          node->release();
        }
      });
    }
    pool.reset();
  }
}

TEST(Pool, IsSharedByBlocksOfSeveralThreads) {
  auto pool = std::make_shared<Pool>();
  std::vector<Ref<String>> seeds;
  for (int i = 0; i < 10; ++i) {
    Arena arena;
    auto* word = reinterpret_cast<Word*>(arena.allocate_root(sizeof(Word)));
    arena.set_node(*word, intern_text(*pool, "seed number " + std::to_string(i)));
    seeds.push_back(detail::ref_to_root<String>(arena.finish()));
  }
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&seeds, t] {
        std::mt19937 random{t};
        for (int i = 0; i < 1000; ++i) {
          const Ref<String> copy = freeze(*seeds[random() % seeds.size()]);
          EXPECT_TRUE(copy->view().starts_with("seed number "));
        }
      });
    }
  }

  EXPECT_EQ(pool->totals().nodes, 10U);
  seeds.clear();
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(Pool, IsUsableInAChildProcess) {
  Pool pool;
  test::expect_children_can([&] {
    for (int i = 0; i < 100; ++i) intern_text(pool, "a text that is shared")->release();
    Pool of_its_own;
    Arena arena;
    arena.set_node(*reinterpret_cast<Word*>(arena.allocate_root(sizeof(Word))),
                   intern_text(of_its_own, "a text that is shared"));
    arena.finish()->release();
  });
}

}  // namespace
}  // namespace kube
