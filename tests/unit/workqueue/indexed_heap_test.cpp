// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/detail/indexed_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kube::detail {
namespace {

struct Node {
  int key = 0;
  std::size_t index = 0;
};
struct Before {
  bool operator()(const Node& a, const Node& b) const { return a.key < b.key; }
};
struct Index {
  std::size_t& operator()(Node& node) const { return node.index; }
};
using Heap = IndexedHeap<Node, Before, Index>;

TEST(IndexedHeap, GivesNodesInOrderAfterAnyMixOfPushEraseAndUpdate) {
  std::mt19937 random{7};
  for (int round = 0; round < 50; ++round) {
    std::vector<Node> nodes(200);
    Heap heap;
    for (Node& node : nodes) {
      node.key = static_cast<int>(random() % 1000);
      heap.push(node);
    }
    std::vector<Node*> inside;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i % 3 == 0) {
        heap.erase(nodes[i]);
        continue;
      }
      if (i % 3 == 1) {
        nodes[i].key = static_cast<int>(random() % 1000);
        heap.update(nodes[i]);
      }
      inside.push_back(&nodes[i]);
    }
    std::ranges::sort(inside, {}, &Node::key);

    ASSERT_EQ(heap.size(), inside.size());
    for (const Node* expected : inside) {
      ASSERT_EQ(heap.top().key, expected->key);
      heap.erase(heap.top());
    }
    EXPECT_TRUE(heap.empty());
  }
}

}  // namespace
}  // namespace kube::detail
