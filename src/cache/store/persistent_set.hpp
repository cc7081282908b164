// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// A persistent (immutable-version) sorted set of 64-bit numbers: a B+ tree with reference-counted
/// nodes, whose versions share their common nodes. Copying is one increment. Changing a copy copies
/// the path to the change (copy-on-write), or nothing if no other version shares it.
///
/// Thread safety: as a standard container; versions that share nodes may be used in different
/// threads.
/// Throws std::bad_alloc from insert() and erase(), which have changed nothing then.
class PersistentSet {
 public:
  PersistentSet() noexcept = default;
  PersistentSet(const PersistentSet& other) noexcept : root_(retain(other.root_)) {}
  PersistentSet(PersistentSet&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  PersistentSet& operator=(PersistentSet other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~PersistentSet() { release(root_); }

  void insert(std::uint64_t key);
  void erase(std::uint64_t key);
  [[nodiscard]] bool contains(std::uint64_t key) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return root_ == nullptr ? 0 : root_->total; }
  /// Returns how many numbers are in [first, last].
  [[nodiscard]] std::size_t count(std::uint64_t first, std::uint64_t last) const noexcept {
    return last == UINT64_MAX ? size() - rank(first) : rank(last + 1) - rank(first);
  }
  /// Calls `see(key)` for each number in [first, last], ascending, until it returns false.
  template <typename See>
  void visit(std::uint64_t first, std::uint64_t last, See see) const {
    if (root_ != nullptr) visit_node(*root_, first, last, see);
  }
  /// Returns the heap memory, including nodes shared with other versions.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of_node(root_); }

 private:
  static constexpr std::uint16_t kLeafKeys = 64;
  static constexpr std::uint16_t kChildren = 32;

  struct Node;
  struct Child {
    std::uint64_t first;  ///< lower bound of the numbers in the subtree
    Node* node;
  };
  struct Node {
    std::atomic<std::uint32_t> references;
    std::uint32_t total;  ///< numbers in the subtree
    std::uint16_t count;  ///< numbers or children in this node
    std::uint16_t capacity;
    bool leaf;

    [[nodiscard]] std::uint64_t* keys() noexcept {
      return reinterpret_cast<std::uint64_t*>(this + 1);
    }
    [[nodiscard]] const std::uint64_t* keys() const noexcept {
      return reinterpret_cast<const std::uint64_t*>(this + 1);
    }
    [[nodiscard]] Child* children() noexcept { return reinterpret_cast<Child*>(this + 1); }
    [[nodiscard]] const Child* children() const noexcept {
      return reinterpret_cast<const Child*>(this + 1);
    }
    /// Returns the child that contains `key`, or would.
    [[nodiscard]] std::uint16_t child_for(std::uint64_t key) const noexcept;
    /// Returns the index of the first number in a leaf that is not below `key`. Branch-free: the
    /// comparison is random, so a branch would mispredict half the time.
    [[nodiscard]] std::uint16_t lower_bound(std::uint64_t key) const noexcept;
    [[nodiscard]] std::uint64_t first() const noexcept {
      return leaf ? keys()[0] : children()[0].first;
    }
  };

  static Node* retain(Node* node) noexcept {
    if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
    return node;
  }
  static void release(Node* node) noexcept;
  static Node* allocate(bool leaf, std::size_t capacity);
  static Node* own(Node* node, std::size_t room);
  static Node* split(Node* node);
  static void append(Node* node, Node* right) noexcept;
  static void make_room(Node* node, std::uint16_t i);
  static void insert_below(Node* node, std::uint64_t key);
  static void join(Node* node, std::uint16_t i) noexcept;
  static void remove_child(Node* node, std::uint16_t at) noexcept;
  static void erase_from(Node*& node, std::uint64_t key);
  static std::size_t bytes_of_node(const Node* node) noexcept;
  [[nodiscard]] std::size_t rank(std::uint64_t key) const noexcept;

  template <typename See>
  static bool visit_node(const Node& node, std::uint64_t first, std::uint64_t last, See& see) {
    if (node.leaf) {
      const std::uint64_t* keys = node.keys();
      std::uint16_t i = node.lower_bound(first);
      for (; i < node.count; ++i) {
        if (keys[i] > last || !see(keys[i])) return false;
      }
      return true;
    }
    for (std::uint16_t i = node.child_for(first); i < node.count; ++i) {
      if (i > 0 && node.children()[i].first > last) return false;
      if (!visit_node(*node.children()[i].node, first, last, see)) return false;
    }
    return true;
  }

  Node* root_ = nullptr;
};

}  // namespace kube::detail
