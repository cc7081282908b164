// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kube::detail {

/// An indexed binary heap of pointers to nodes. Each node stores its index, so that any node can be
/// erased or moved. Before{}(a, b) is true if node a comes first; Index{}(node) is the node's
/// index, which the heap maintains.
template <typename Node, typename Before, typename Index>
class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] Node& top() const noexcept { return *nodes_.front(); }

  /// Reserves capacity, so that push() does not allocate while the heap has at most `count` nodes.
  void reserve(std::size_t count) {
    if (count > nodes_.capacity()) nodes_.reserve(std::max(count, 2 * nodes_.capacity()));
  }
  void push(Node& node) {
    nodes_.push_back(&node);
    rise(nodes_.size() - 1);
  }
  void erase(Node& node) noexcept {
    const std::size_t at = Index{}(node);
    Node* const last = nodes_.back();
    nodes_.pop_back();
    if (last == &node) return;
    nodes_[at] = last;
    Index{}(*last) = at;
    update(*last);
  }
  /// Restores the heap after the order of `node`, which is in the heap, has changed.
  void update(Node& node) noexcept {
    const std::size_t at = Index{}(node);
    rise(at);
    if (Index{}(node) == at) sink(at);
  }
  void clear() noexcept { nodes_.clear(); }

 private:
  void rise(std::size_t at) noexcept {
    Node* const node = nodes_[at];
    for (; at > 0; at = (at - 1) / 2) {
      Node* const parent = nodes_[(at - 1) / 2];
      if (!Before{}(*node, *parent)) break;
      place(at, parent);
    }
    place(at, node);
  }
  void sink(std::size_t at) noexcept {
    Node* const node = nodes_[at];
    for (std::size_t child = 2 * at + 1; child < nodes_.size(); child = 2 * at + 1) {
      if (child + 1 < nodes_.size() && Before{}(*nodes_[child + 1], *nodes_[child])) ++child;
      if (!Before{}(*nodes_[child], *node)) break;
      place(at, nodes_[child]);
      at = child;
    }
    place(at, node);
  }
  void place(std::size_t at, Node* node) noexcept {
    nodes_[at] = node;
    Index{}(*node) = at;
  }

  std::vector<Node*> nodes_;
};

}  // namespace kube::detail
