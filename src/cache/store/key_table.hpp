// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/prefetch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// A persistent hash trie from a 32-bit hash to slot numbers: versions share their common nodes
/// (copy-on-write, reference-counted). Each level uses four bits of the hash; a leaf has up to 16
/// entries. PersistentSet, in contrast, keeps its keys sorted, and takes longer to search.
class KeyTable {
 public:
  KeyTable() noexcept = default;
  KeyTable(const KeyTable& other) noexcept : root_(retain(other.root_)), size_(other.size_) {}
  KeyTable(KeyTable&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  KeyTable& operator=(KeyTable other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~KeyTable() { release(root_); }

  /// A slot must not be added twice under one hash. Both throw std::bad_alloc, and have changed
  /// nothing then.
  void insert(std::uint32_t hash, std::uint32_t slot);
  void erase(std::uint32_t hash, std::uint32_t slot);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Calls `see(slot)` for each slot under this hash until it returns false.
  template <typename See>
  void visit(std::uint32_t hash, See see) const {
    const Node* node = root_;
    for (unsigned shift = kTopShift; node != nullptr && !node->leaf; shift -= kBits) {
      node = static_cast<const Inner*>(node)->children[digit(hash, shift)];
    }
    if (node == nullptr) return;
    const Entry* entries = static_cast<const Leaf*>(node)->entries();
    for (std::uint32_t i = 0; i < node->count; ++i) {
      if (entries[i].hash == hash && !see(entries[i].slot)) return;
    }
  }
  /// Prefetches the leaf that visit() will read. The inner nodes are few enough to stay in the
  /// processor's caches.
  void prefetch(std::uint32_t hash) const noexcept {
    const Node* node = root_;
    unsigned shift = kTopShift;
    for (std::size_t reach = kLeafEntries; node != nullptr && !node->leaf && reach < size_;
         reach <<= kBits, shift -= kBits) {
      node = static_cast<const Inner*>(node)->children[digit(hash, shift)];
    }
    detail::prefetch(node, sizeof(Leaf) + kLeafEntries * sizeof(Entry));
  }
  /// Returns the heap memory, including nodes shared with other versions.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of_node(root_); }

 private:
  static constexpr unsigned kBits = 4;
  static constexpr unsigned kTopShift = 32 - kBits;
  /// Exceeded only by entries with equal hashes.
  static constexpr std::uint32_t kLeafEntries = 16;

  struct Entry {
    std::uint32_t hash;
    std::uint32_t slot;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Node {
    std::atomic<std::uint32_t> references{1};
    bool leaf;
    std::uint32_t count = 0;  ///< number of entries, or of children that are not null
    explicit Node(bool is_leaf) : leaf(is_leaf) {}
  };
  struct Inner : Node {
    Node* children[std::size_t{1} << kBits] = {};
    Inner() : Node(false) {}
  };
  struct alignas(8) Leaf : Node {
    Leaf() : Node(true) {}
    [[nodiscard]] Entry* entries() noexcept { return reinterpret_cast<Entry*>(this + 1); }
    [[nodiscard]] const Entry* entries() const noexcept {
      return reinterpret_cast<const Entry*>(this + 1);
    }
  };

  static std::size_t digit(std::uint32_t hash, unsigned shift) noexcept {
    return (hash >> shift) & ((1U << kBits) - 1);
  }
  static Node* retain(Node* node) noexcept {
    if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
    return node;
  }
  static void release(Node* node) noexcept;
  static Leaf* new_leaf(std::size_t entries);
  static Inner* own(Inner* node);
  static void insert_into(Node*& node, unsigned shift, Entry entry);
  static bool erase_from(Node*& node, unsigned shift, Entry entry);
  static std::size_t bytes_of_node(const Node* node) noexcept;

  Node* root_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kube::detail
