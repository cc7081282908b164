// SPDX-License-Identifier: Apache-2.0
#include "cache/store/key_table.hpp"

#include "base/heap.hpp"

#include <algorithm>
#include <new>

namespace kube::detail {

void KeyTable::release(Node* node) noexcept {
  if (node == nullptr || node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (node->leaf) {
    heap_release(static_cast<Leaf*>(node));
    return;
  }
  auto* inner = static_cast<Inner*>(node);
  for (Node* child : inner->children) release(child);
  heap_release(inner);
}

KeyTable::Leaf* KeyTable::new_leaf(std::size_t entries) {
  return new (heap_allocate(sizeof(Leaf) + entries * sizeof(Entry))) Leaf;
}

/// Copy-on-write: returns a node with this content that no other version shares. Takes ownership of
/// `node`.
KeyTable::Inner* KeyTable::own(Inner* node) {
  if (node->references.load(std::memory_order_acquire) == 1) return node;
  auto* copy = new (heap_allocate(sizeof(Inner))) Inner;
  copy->count = node->count;
  for (std::size_t i = 0; i < std::size(copy->children); ++i) {
    copy->children[i] = retain(node->children[i]);
  }
  release(node);
  return copy;
}

void KeyTable::insert_into(Node*& node, unsigned shift, Entry entry) {
  if (node == nullptr || node->leaf) {
    const Leaf* old = static_cast<Leaf*>(node);
    const std::uint32_t count = old == nullptr ? 0 : old->count;
    // Below the last digit all hashes in a leaf are equal.
    if (count < kLeafEntries || shift > kTopShift) {
      Leaf* copy = new_leaf(count + std::size_t{1});
      if (old != nullptr) std::copy_n(old->entries(), count, copy->entries());
      copy->entries()[count] = entry;
      copy->count = count + 1;
      release(node);
      node = copy;
      return;
    }
    Node* inner = new (heap_allocate(sizeof(Inner))) Inner;
    try {
      for (std::uint32_t i = 0; i < count; ++i) insert_into(inner, shift, old->entries()[i]);
    } catch (...) {
      release(inner);
      throw;
    }
    release(node);
    node = inner;
  }
  Inner* inner = own(static_cast<Inner*>(node));
  node = inner;
  Node*& child = inner->children[digit(entry.hash, shift)];
  const bool is_new = child == nullptr;
  insert_into(child, shift - kBits, entry);
  if (is_new) ++inner->count;
}

/// Returns false, with nothing changed, if the entry does not exist.
bool KeyTable::erase_from(Node*& node, unsigned shift, Entry entry) {
  if (node == nullptr) return false;
  if (node->leaf) {
    const Leaf* old = static_cast<Leaf*>(node);
    const Entry* const end = old->entries() + old->count;
    const Entry* const found = std::find(old->entries(), end, entry);
    if (found == end) return false;
    Leaf* copy = nullptr;
    if (old->count > 1) {
      copy = new_leaf(old->count - std::size_t{1});
      std::copy(found + 1, end, std::copy(old->entries(), found, copy->entries()));
      copy->count = old->count - 1;
    }
    release(node);
    node = copy;
    return true;
  }
  Inner* inner = own(static_cast<Inner*>(node));
  node = inner;
  Node*& child = inner->children[digit(entry.hash, shift)];
  if (!erase_from(child, shift - kBits, entry)) return false;
  if (child == nullptr && --inner->count == 0) {
    release(node);
    node = nullptr;
  }
  return true;
}

void KeyTable::insert(std::uint32_t hash, std::uint32_t slot) {
  insert_into(root_, kTopShift, {hash, slot});
  ++size_;
}

void KeyTable::erase(std::uint32_t hash, std::uint32_t slot) {
  if (erase_from(root_, kTopShift, {hash, slot})) --size_;
}

std::size_t KeyTable::bytes_of_node(const Node* node) noexcept {
  if (node == nullptr) return 0;
  if (node->leaf) {
    return heap_size_of(static_cast<const Leaf*>(node));
  }
  const auto* inner = static_cast<const Inner*>(node);
  std::size_t bytes = heap_size_of(inner);
  for (const Node* child : inner->children) bytes += bytes_of_node(child);
  return bytes;
}

}  // namespace kube::detail
