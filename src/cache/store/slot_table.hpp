// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/store/index_values.hpp"

#include "base/prefetch.hpp"
#include <kube/object/object_ref.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// One object of a store, with its values in the user's indexes.
struct StoredObject {
  ObjectRef object;
  IndexValues values;
};

/// A persistent radix tree from slot numbers to objects: versions share their common nodes
/// (copy-on-write, reference-counted). An empty slot takes no memory if its neighbours are empty,
/// too.
class SlotTable {
 public:
  SlotTable() noexcept = default;
  SlotTable(const SlotTable& other) noexcept : root_(retain(other.root_)), levels_(other.levels_) {}
  SlotTable(SlotTable&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), levels_(std::exchange(other.levels_, 0)) {}
  SlotTable& operator=(SlotTable other) noexcept {
    std::swap(root_, other.root_);
    std::swap(levels_, other.levels_);
    return *this;
  }
  ~SlotTable() { release(root_, levels_); }

  /// Returns the slot, or null if it is empty.
  [[nodiscard]] const StoredObject* find(std::uint32_t number) const noexcept;
  /// Prefetches the leaf that find() will read.
  void prefetch(std::uint32_t number) const noexcept {
    detail::prefetch(leaf_of(number), sizeof(Leaf));
  }
  /// Prefetches everything that set() will touch: copying a leaf increments the reference count of
  /// each of its objects.
  void prefetch_objects(std::uint32_t number) const noexcept;
  /// Stores `slot`; one without an object empties it. Throws std::bad_alloc, and has changed no
  /// slot then.
  void set(std::uint32_t number, StoredObject slot);
  /// Calls `see(number, slot)` for each slot that is not empty, from `first` on, until it returns
  /// false.
  template <typename See>
  void visit(See see, std::uint32_t first = 0) const {
    if (root_ != nullptr) visit_node(root_, levels_, 0, first, see);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of_node(root_, levels_); }

 private:
  // Small leaves: copying one increments the reference counts of all its objects, each a cache
  // miss.
  static constexpr unsigned kLeafBits = 2;
  static constexpr unsigned kInnerBits = 4;

  struct Node {
    std::atomic<std::uint32_t> references{1};
    std::uint32_t used = 0;  ///< slots or children that are not empty
  };
  struct Leaf : Node {
    std::array<StoredObject, 1U << kLeafBits> slots;
  };
  struct Inner : Node {
    std::array<Node*, 1U << kInnerBits> children{};
  };

  /// Returns the leaf of a slot; null if there is none.
  [[nodiscard]] const Leaf* leaf_of(std::uint32_t number) const noexcept;
  static Node* retain(Node* node) noexcept {
    if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
    return node;
  }
  static void release(Node* node, unsigned levels) noexcept;
  static Node* own(Node* node, unsigned levels);
  static void set_in(Node*& node, unsigned levels, std::uint32_t number, StoredObject&& slot);
  static std::size_t bytes_of_node(const Node* node, unsigned levels) noexcept;
  static std::uint64_t width(unsigned levels) noexcept {
    return std::uint64_t{1} << (kLeafBits + kInnerBits * levels);
  }

  template <typename See>
  static bool visit_node(const Node* node, unsigned levels, std::uint64_t base, std::uint64_t first,
                         See& see) {
    if (levels == 0) {
      const auto& slots = static_cast<const Leaf*>(node)->slots;
      for (std::size_t i = first > base ? first - base : 0; i < slots.size(); ++i) {
        if (slots[i].object && !see(static_cast<std::uint32_t>(base + i), slots[i])) return false;
      }
      return true;
    }
    const std::uint64_t step = width(levels - 1);
    const auto& children = static_cast<const Inner*>(node)->children;
    for (std::size_t i = first > base ? (first - base) / step : 0; i < children.size(); ++i) {
      if (children[i] != nullptr &&
          !visit_node(children[i], levels - 1, base + i * step, first, see)) {
        return false;
      }
    }
    return true;
  }

  Node* root_ = nullptr;
  unsigned levels_ = 0;  // levels above the leaves
};

}  // namespace kube::detail
