// SPDX-License-Identifier: Apache-2.0
#include "cache/store/slot_table.hpp"

#include "base/heap.hpp"

#include <new>

namespace kube::detail {

void SlotTable::release(Node* node, unsigned levels) noexcept {
  if (node == nullptr || node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (levels == 0) {
    auto* leaf = static_cast<Leaf*>(node);
    leaf->~Leaf();
    heap_release(leaf);
    return;
  }
  auto* inner = static_cast<Inner*>(node);
  for (Node* child : inner->children) release(child, levels - 1);
  heap_release(inner);
}

/// Copy-on-write: returns a node with this content that no other version shares. Takes ownership of
/// `node`, which may be null.
SlotTable::Node* SlotTable::own(Node* node, unsigned levels) {
  if (node != nullptr && node->references.load(std::memory_order_acquire) == 1) return node;
  Node* copy = nullptr;
  if (levels == 0) {
    auto* leaf = new (heap_allocate(sizeof(Leaf))) Leaf;
    if (node != nullptr) leaf->slots = static_cast<Leaf*>(node)->slots;
    copy = leaf;
  } else {
    auto* inner = new (heap_allocate(sizeof(Inner))) Inner;
    if (node != nullptr) inner->children = static_cast<Inner*>(node)->children;
    for (Node* child : inner->children) retain(child);
    copy = inner;
  }
  if (node != nullptr) copy->used = node->used;
  release(node, levels);
  return copy;
}

void SlotTable::set_in(Node*& node, unsigned levels, std::uint32_t number, StoredObject&& slot) {
  const bool is_new = node == nullptr;
  node = own(node, levels);
  if (levels == 0) {
    StoredObject& place = static_cast<Leaf*>(node)->slots[number & ((1U << kLeafBits) - 1)];
    node->used += static_cast<std::uint32_t>(static_cast<bool>(slot.object)) -
                  static_cast<std::uint32_t>(static_cast<bool>(place.object));
    place = std::move(slot);
  } else {
    const unsigned shift = kLeafBits + kInnerBits * (levels - 1);
    Node*& child =
        static_cast<Inner*>(node)->children[(number >> shift) & ((1U << kInnerBits) - 1)];
    const bool before = child != nullptr;
    try {
      set_in(child, levels - 1, number, std::move(slot));
    } catch (...) {
      if (is_new) release(std::exchange(node, nullptr), levels);
      throw;
    }
    node->used += static_cast<std::uint32_t>(child != nullptr) - static_cast<std::uint32_t>(before);
  }
  if (node->used == 0) {
    release(node, levels);
    node = nullptr;
  }
}

void SlotTable::set(std::uint32_t number, StoredObject slot) {
  while (number >= width(levels_)) {
    if (root_ != nullptr) {
      auto* top = new (heap_allocate(sizeof(Inner))) Inner;
      top->children[0] = root_;
      top->used = 1;
      root_ = top;
    }
    ++levels_;
  }
  set_in(root_, levels_, number, std::move(slot));
}

const SlotTable::Leaf* SlotTable::leaf_of(std::uint32_t number) const noexcept {
  if (number >= width(levels_)) return nullptr;
  const Node* node = root_;
  for (unsigned level = levels_; level > 0 && node != nullptr; --level) {
    const unsigned shift = kLeafBits + kInnerBits * (level - 1);
    node = static_cast<const Inner*>(node)->children[(number >> shift) & ((1U << kInnerBits) - 1)];
  }
  return static_cast<const Leaf*>(node);
}

const StoredObject* SlotTable::find(std::uint32_t number) const noexcept {
  const Leaf* const leaf = leaf_of(number);
  if (leaf == nullptr) return nullptr;
  const StoredObject& slot = leaf->slots[number & ((1U << kLeafBits) - 1)];
  return slot.object ? &slot : nullptr;
}

void SlotTable::prefetch_objects(std::uint32_t number) const noexcept {
  const Leaf* const leaf = leaf_of(number);
  if (leaf == nullptr) return;
  for (const StoredObject& slot : leaf->slots) slot.object.prefetch();
  leaf->slots[number & ((1U << kLeafBits) - 1)].object.prefetch_name();
}

std::size_t SlotTable::bytes_of_node(const Node* node, unsigned levels) noexcept {
  if (node == nullptr) return 0;
  std::size_t bytes = heap_size_of(node);
  if (levels == 0) {
    for (const StoredObject& slot : static_cast<const Leaf*>(node)->slots)
      bytes += slot.values.bytes();
  } else {
    for (const Node* child : static_cast<const Inner*>(node)->children) {
      bytes += bytes_of_node(child, levels - 1);
    }
  }
  return bytes;
}

}  // namespace kube::detail
